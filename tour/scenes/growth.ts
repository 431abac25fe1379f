import { readPodMark } from '@spotalis/core';
import { type Pod, type Split, splitOf, type Workload } from '@spotalis/e2e/workloads';

const uidOf = ({ metadata }: Pod): string => metadata?.uid ?? '';

/** A workload that grows: what an earlier scene left unsteered is not counted against this one. */
export class Growth {
  readonly #workload: Workload;
  readonly #earlier: ReadonlySet<string>;

  static async of(workload: Workload): Promise<Growth> {
    return new Growth(workload, await workload.pods());
  }

  constructor(workload: Workload, earlier: readonly Pod[]) {
    this.#workload = workload;
    this.#earlier = new Set(earlier.map(uidOf));
  }

  /** The split at the moment when as many pods live: nothing had time to repair it. */
  async splitWhenCreated(replicas: number): Promise<Split> {
    return this.splitOf(await this.#workload.created(replicas));
  }

  /** The leader has marked an earlier unsteered pod with the type of its node, and the ledger counts it there. */
  splitOf(pods: readonly Pod[]): Split {
    const split = { ...splitOf(pods) };
    for (const pod of pods) {
      if (pod.spec.nodeSelector !== undefined || !this.#earlier.has(uidOf(pod))) continue;
      const { type } = readPodMark(pod.metadata?.annotations ?? {});
      if (type === null) continue;
      split[type === 'spot' ? 'spot' : 'onDemand'] += 1;
      split.unsteered -= 1;
    }
    return split;
  }
}
