import type { Cluster, KubeObject } from '@spotalis/cluster';

export interface Change<T> {
  readonly object: T;
  readonly isGone: boolean;
}

/** Tells of objects as they are, and then of every change of them, from watches: nothing between two looks is missed. */
export class Follower {
  readonly #cluster: Cluster;
  readonly #stopping = new AbortController();
  readonly #watches: Promise<void>[] = [];

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The first changes are all that there is, and may be none; then they come one by one. */
  async follow<T extends KubeObject>(
    path: string,
    take: (changes: readonly Change<T>[]) => void,
  ): Promise<void> {
    const { api } = this.#cluster;
    const list = await api.raw<{ metadata: { resourceVersion: string }; items: T[] }>('GET', path);
    take(list.items.map((object) => ({ object, isGone: false })));
    const { resourceVersion } = list.metadata;
    const events = api.watch<T>(path, { resourceVersion, signal: this.#stopping.signal });
    const watch = (async () => {
      for await (const { type, object } of events) take([{ object, isGone: type === 'DELETED' }]);
    })();
    // Told by `ended`, which somebody waits for.
    watch.catch(() => undefined);
    this.#watches.push(watch);
  }

  /** When all watches have ended. Fails as soon as one broke: then changes were missed. */
  async ended(): Promise<void> {
    await Promise.all(this.#watches);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.ended();
  }
}
