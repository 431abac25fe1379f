import type { ApiClient, ListOptions } from '../api/client.ts';
import { HOLD_ANNOTATION, type Hold } from '../kwok/stages.ts';

/**
 * Holds the pods that are there now; a pod template with `HOLD_ANNOTATION` holds those to come. Returns how
 * many there are.
 */
export function holdPods(api: ApiClient, pods: ListOptions, hold: Hold): Promise<number> {
  return annotate(api, pods, hold);
}

/** Lets held pods go on, wherever their annotation came from. */
export function releasePods(api: ApiClient, pods: ListOptions): Promise<number> {
  return annotate(api, pods, null);
}

async function annotate(api: ApiClient, options: ListOptions, hold: Hold | null): Promise<number> {
  const pods = await api.list('Pod', options);
  const patch = { metadata: { annotations: { [HOLD_ANNOTATION]: hold } } };
  await Promise.all(
    pods.map(({ metadata }) => api.patch('Pod', `${metadata?.namespace}/${metadata?.name}`, patch)),
  );
  return pods.length;
}
