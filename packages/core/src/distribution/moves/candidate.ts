import type { Member } from '../../cluster/workload-pod.ts';
import { protectionOf, type ProtectionContext } from './protection.ts';
import type { Exclusion } from './verdict.ts';
import type { WorkloadView } from '../../cluster/workload.ts';

export interface Candidates {
  /** Pods of the surplus type that may be moved, the first to go first. */
  readonly eligible: readonly Member[];
  readonly exclusions: readonly Exclusion[];
}

export function candidatesOf(members: readonly Member[], context: ProtectionContext): Candidates {
  const eligible: Member[] = [];
  const exclusions: Exclusion[] = [];
  for (const member of members) {
    if (member.type !== context.from) continue;
    const protection = protectionOf(member, context);
    if (protection === null) eligible.push(member);
    else exclusions.push({ pod: member.pod.name, ...protection });
  }
  return { eligible: eligible.toSorted(orderOf(context.workload)), exclusions };
}

/** Negative: the first pod goes before the second. */
type Order = (a: Member, b: Member) => number;

/** An OrderedReady StatefulSet goes by the ordinal alone, as its own rollouts do. */
function orderOf(workload: WorkloadView): Order {
  const order =
    workload.kind === 'Deployment'
      ? [byNeed, byCost, byRank, byYouth]
      : workload.podManagement === 'Parallel'
        ? [byNeed, byOrdinal, byYouth]
        : [byOrdinal];
  return (a, b) => {
    for (const compare of order) {
      const difference = compare(a, b);
      if (difference !== 0) return difference;
    }
    // Only so that the same pods always give the same choice.
    return a.pod.uid < b.pod.uid ? -1 : 1;
  };
}

/** An unready pod serves nobody; a doomed one will be gone anyway. */
const needOf = ({ pod, doom }: Member): number => {
  if (!pod.ready) return 0;
  return doom === null ? 2 : 1;
};
const byNeed: Order = (a, b) => needOf(a) - needOf(b);
/** The lowest cost is the highest slot. */
const byCost: Order = (a, b) => a.cost - b.cost;
/** Where costs are not ours; a pod that admission never saw goes first. */
const byRank: Order = (a, b) => (b.rank ?? Number.MAX_SAFE_INTEGER) - (a.rank ?? Number.MAX_SAFE_INTEGER);
const byOrdinal: Order = (a, b) => (b.ordinal ?? 0) - (a.ordinal ?? 0);
const byYouth: Order = (a, b) => b.pod.createdAtMs - a.pod.createdAtMs;
