import { ApiError, asError, FenceClosedError, KubeError } from './errors.ts';
import type { KubeObject } from './object.ts';
import { resource } from './resource.ts';
import type { ApiClient } from './transport/client.ts';
import type { HotCallOptions } from './transport/transport.ts';

type Quantities = Readonly<Record<string, string>>;

export interface ContainerResources {
  readonly name: string;
  readonly resources: { readonly requests?: Quantities; readonly limits?: Quantities };
}

/** What to resize, as what it must still be, and to what. Amounts that are not named stay. */
export interface PodResize {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Any change of the pod in the meantime makes the resize fail. */
  readonly resourceVersion: string;
  readonly containers: readonly ContainerResources[];
  /** Sidecars. */
  readonly initContainers: readonly ContainerResources[];
  /** Who owns what was written: `spotalis-<module>`. */
  readonly fieldManager: string;
}

/** Who turned a resize away: by its own rules, for this size, so that the same one helps only when those change. */
export type ResizeRefuser = 'quota' | 'limitRange' | 'node' | 'validation' | 'admission';

export type ResizeOutcome<T = KubeObject> =
  /** The API server took it. Whether the kubelet does is for the pod's status to say. */
  | { readonly kind: 'resized'; readonly pod: T }
  /** The pod is still the same but has changed: read it again. */
  | { readonly kind: 'stale'; readonly message: string }
  /** The pod that was meant does not exist any more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'refused'; readonly by: ResizeRefuser; readonly message: string }
  | { readonly kind: 'forbidden'; readonly message: string }
  /** The pod is there, and the server has no `pods/resize`. */
  | { readonly kind: 'unsupported'; readonly message: string }
  /** Not sent, because the fence was closed. */
  | { readonly kind: 'fenced' }
  /** It may or may not be carried out; the preconditions make asking again harmless. */
  | {
      readonly kind: 'error';
      readonly error: Error;
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
    };

/** One patch of `pods/resize` for all containers, sent once. Never throws. */
export async function resizePod<T extends KubeObject>(
  client: ApiClient,
  resize: PodResize,
  options: HotCallOptions,
): Promise<ResizeOutcome<T>> {
  const { namespace, name, uid, resourceVersion, containers, initContainers, fieldManager } = resize;
  const body = {
    metadata: { uid, resourceVersion },
    spec: {
      ...(containers.length === 0 ? {} : { containers }),
      ...(initContainers.length === 0 ? {} : { initContainers }),
    },
  };
  try {
    const pod = await client.strategicMergePatch(
      resource<T>('v1', 'pods', 'Pod'),
      { namespace, name, subresource: 'resize' },
      body,
      { fieldManager },
      { ...options, once: true },
    );
    return { kind: 'resized', pod };
  } catch (thrown) {
    const error = asError(thrown);
    if (error instanceof FenceClosedError) return { kind: 'fenced' };
    if (error instanceof ApiError) return outcomeOf(client, resize, error, options);
    return { kind: 'error', error, retryable: error instanceof KubeError && error.retryable };
  }
}

async function outcomeOf(
  client: ApiClient,
  resize: PodResize,
  error: ApiError,
  options: HotCallOptions,
): Promise<Exclude<ResizeOutcome, { kind: 'resized' }>> {
  const message = error.statusMessage;
  switch (error.status) {
    case 404:
      // The answer is the same for a pod that is gone and for a server without the subresource.
      return (await isThere(client, resize, options)) ? { kind: 'unsupported', message } : { kind: 'gone' };
    case 409:
      // It does not say in a dependable way which precondition failed; the pod itself does.
      return (await isThere(client, resize, options)) ? { kind: 'stale', message } : { kind: 'gone' };
    case 403:
      return isRightMissing(message)
        ? { kind: 'forbidden', message }
        : { kind: 'refused', by: refuserOf(error), message };
    case 422:
      // A UID in a patch is no precondition: another one is found to be immutable, unless the version differs first.
      return error.causes.some(({ field }) => field === 'metadata.uid')
        ? { kind: 'gone' }
        : { kind: 'refused', by: 'validation', message };
    default: {
      if (isWebhook(message) && !error.retryable) return { kind: 'refused', by: 'admission', message };
      const { retryable, retryAfterMs } = error;
      return { kind: 'error', error, retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    }
  }
}

// A Status has no word for who refused; these texts have stood since the plugins exist.
const isRightMissing = (message: string): boolean => /cannot patch resource "pods\/resize"/.test(message);
const isWebhook = (message: string): boolean => message.startsWith('admission webhook ');

function refuserOf({ statusMessage, causes }: ApiError): ResizeRefuser {
  if (causes.some(({ reason }) => reason === 'NodeCapacity')) return 'node';
  if (/exceeded quota:|failed quota:/.test(statusMessage)) return 'quota';
  if (/\b(?:minimum|maximum) .* usage per |limit to request ratio per /.test(statusMessage))
    return 'limitRange';
  return 'admission';
}

/** Whether the same pod is still there; taken for granted where nobody can tell. */
async function isThere(
  client: ApiClient,
  { namespace, name, uid }: PodResize,
  options: HotCallOptions,
): Promise<boolean> {
  try {
    const { fence: _write, ...read } = options;
    const pods = resource<KubeObject>('v1', 'pods', 'Pod');
    const pod = await client.get(pods, { namespace, name }, { ...read, once: true, view: 'metadata' });
    return pod.metadata.uid === uid;
  } catch (thrown) {
    const error = asError(thrown);
    return !(error instanceof ApiError && error.status === 404);
  }
}
