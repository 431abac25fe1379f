import type { ObservedPod } from '@spotalis/core';
import { type ApiClient, type RawObject, resource } from '@spotalis/kube';

interface RawPod extends RawObject {
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime?: string;
    }[];
  };
}

/** How long a pod takes from its creation until it is Ready, and how that is known. */
export interface Pace {
  readonly ms: number;
  readonly origin: 'measured' | 'given' | 'assumed';
}

const ASSUMED_MS = 30_000;
const pods = resource<RawPod>('v1', 'pods', 'Pod');

/** The median of the pods there are. */
export async function paceOf(client: ApiClient, present: readonly ObservedPod[]): Promise<Pace> {
  const uids = new Set(present.map(({ metadata }) => metadata.uid));
  const namespace = present[0]?.metadata.namespace;
  if (namespace === undefined) return { ms: ASSUMED_MS, origin: 'assumed' };
  const times: number[] = [];
  for await (const { items } of client.pages(pods, { namespace })) {
    for (const { metadata, status } of items) {
      if (!uids.has(metadata.uid)) continue;
      const ready = status?.conditions?.find(({ type, status: is }) => type === 'Ready' && is === 'True');
      const ms = Date.parse(ready?.lastTransitionTime ?? '') - Date.parse(metadata.creationTimestamp ?? '');
      if (ms >= 0) times.push(ms);
    }
  }
  const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
  return median === undefined ? { ms: ASSUMED_MS, origin: 'assumed' } : { ms: median, origin: 'measured' };
}
