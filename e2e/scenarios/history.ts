import type { Cluster, WatchEvent } from '@spotalis/cluster';
import { type Pod, type Split, splitOf } from './workload.ts';

/**
 * Every state that the pods of a namespace went through, from a watch: nothing between two looks is missed. The first
 * is the one it began with, so that a law over all of them never holds for want of any.
 */
export class PodHistory {
  readonly states: Split[] = [];
  readonly #live = new Map<string, Pod>();
  readonly #ended = new AbortController();
  #consumed: Promise<void> = Promise.resolve();

  static async follow(cluster: Cluster, namespace: string): Promise<PodHistory> {
    const history = new PodHistory();
    await history.#begin(cluster, namespace);
    return history;
  }

  /** Fails when the watch broke in between: then states were missed. */
  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#consumed;
  }

  async #begin(cluster: Cluster, namespace: string): Promise<void> {
    const list = await cluster.api.raw<{ metadata: { resourceVersion: string }; items: Pod[] }>(
      'GET',
      `/api/v1/namespaces/${namespace}/pods`,
    );
    for (const pod of list.items) {
      if (pod.metadata?.deletionTimestamp === undefined) this.#live.set(pod.metadata?.uid ?? '', pod);
    }
    this.#look();
    const events = cluster.api.watch<Pod>(`/api/v1/namespaces/${namespace}/pods`, {
      resourceVersion: list.metadata.resourceVersion,
      signal: this.#ended.signal,
    });
    this.#consumed = this.#consume(events);
  }

  async #consume(events: AsyncIterable<WatchEvent<Pod>>): Promise<void> {
    for await (const { type, object } of events) {
      const ended = type === 'DELETED' || object.metadata?.deletionTimestamp !== undefined;
      if (ended) this.#live.delete(object.metadata?.uid ?? '');
      else this.#live.set(object.metadata?.uid ?? '', object);
      this.#look();
    }
  }

  #look(): void {
    this.states.push(splitOf([...this.#live.values()]));
  }
}
