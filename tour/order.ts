import { foreignKeys, type PolicyNumbers, readPodMark, renumberingsOf } from '@spotalis/core';
import type { Pod } from '@spotalis/e2e/workloads';

/** Whether the ReplicaSet of these pods keeps the split at every size that it is scaled down to. */
export function isInOrder(numbers: PolicyNumbers, pods: readonly Pod[]): boolean {
  const ranked = pods
    // A StatefulSet goes by ordinals.
    .filter(({ metadata }) => metadata?.ownerReferences?.some(({ kind }) => kind === 'ReplicaSet'))
    .map(({ metadata: { name = '', uid = '', resourceVersion = '', annotations = {} } = {} }) => {
      const { type, rank } = readPodMark(annotations);
      const cost = Number(annotations[foreignKeys.podDeletionCost]);
      return { type, rank, cost, pod: { name, uid, resourceVersion, createdAtMs: 0 } };
    });
  return ranked.every(({ type }) => type !== null) && renumberingsOf(numbers, ranked).length === 0;
}
