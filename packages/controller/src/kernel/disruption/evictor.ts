import type { PodReference } from '@spotalis/core';
import {
  ApiError,
  type ApiClient,
  asError,
  evict,
  type EvictionOutcome,
  type KubeObject,
  resource,
} from '@spotalis/kube';

interface LivePod extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly deletionTimestamp?: string };
}

const pods = resource<LivePod>('v1', 'pods', 'Pod');
const DEADLINE_MS = 10_000;

export type Outcome =
  | EvictionOutcome
  /** The pod has changed since the decision, so that it has to be decided again. */
  | { readonly kind: 'stale' }
  /** The pod could not be read, so nothing was sent. */
  | { readonly kind: 'unread'; readonly error: Error };

/** Evicts one pod, as what it was when it was chosen. */
export class Evictor {
  readonly #client: ApiClient;
  readonly #mayWrite: () => boolean;

  constructor(client: ApiClient, mayWrite: () => boolean) {
    this.#client = client;
    this.#mayWrite = mayWrite;
  }

  /** Never throws. */
  evict(namespace: string, pod: PodReference): Promise<Outcome> {
    return this.#evict(namespace, pod, undefined);
  }

  /**
   * A pod that has no node, which no PDB protects. If it gets one in the meantime, or changes in any other way, it
   * stays.
   */
  removeUnscheduled(namespace: string, pod: PodReference): Promise<Outcome> {
    return this.#evict(namespace, pod, pod.resourceVersion);
  }

  async #evict(namespace: string, pod: PodReference, resourceVersion: string | undefined): Promise<Outcome> {
    if (!this.#mayWrite()) return { kind: 'fenced' };
    const { name, uid } = pod;
    try {
      // A wrong UID would be refused, but spend the budget of its PDB for two minutes: read it right before.
      const { metadata } = await this.#client.get(
        pods,
        { namespace, name },
        { once: true, deadlineMs: DEADLINE_MS, view: 'metadata' },
      );
      if (metadata.uid !== uid || metadata.deletionTimestamp !== undefined) return { kind: 'gone' };
      if (metadata.resourceVersion !== pod.resourceVersion) return { kind: 'stale' };
    } catch (thrown) {
      const error = asError(thrown);
      if (error instanceof ApiError && error.status === 404) return { kind: 'gone' };
      return { kind: 'unread', error };
    }
    return evict(
      this.#client,
      { namespace, name, uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
      { deadlineMs: DEADLINE_MS, fence: this.#mayWrite },
    );
  }
}
