import type { Cluster } from '@spotalis/cluster';
import { type Change, Follower } from './follower.ts';
import { type Pod, type Split, splitOf } from './workload.ts';

/**
 * Every state that the pods of a namespace went through, from a watch: nothing between two looks is missed. The first
 * is the one it began with, so that a law over all of them never holds for want of any.
 */
export class PodHistory {
  readonly states: Split[] = [];
  readonly #live = new Map<string, Pod>();
  readonly #follower: Follower;

  static async follow(cluster: Cluster, namespace: string): Promise<PodHistory> {
    const history = new PodHistory(cluster);
    await history.#follower.follow<Pod>(`/api/v1/namespaces/${namespace}/pods`, (changes) =>
      history.#take(changes),
    );
    return history;
  }

  private constructor(cluster: Cluster) {
    this.#follower = new Follower(cluster);
  }

  /** Fails when the watch broke in between: then states were missed. */
  async stop(): Promise<void> {
    await this.#follower.stop();
  }

  #take(changes: readonly Change<Pod>[]): void {
    for (const { object, isGone } of changes) {
      const { uid = '', deletionTimestamp } = object.metadata ?? {};
      if (isGone || deletionTimestamp !== undefined) this.#live.delete(uid);
      else this.#live.set(uid, object);
    }
    this.states.push(splitOf([...this.#live.values()]));
  }
}
