import { type EvictIntent, type Intent, type RemovalIntent, type ResizeIntent, ranks } from './intent.ts';
import { type Budgets, type Deferral, MinuteUse, type RegisterView, spentMinute, Use } from './register.ts';
import { byRank, inOrder, Turns } from './turn.ts';

export interface Arbitration {
  /** To be carried out, in this order. A removal may name fewer pods than were asked for. */
  readonly granted: readonly Intent[];
  /** By id. A removal that is granted in part is here, too, for the rest. */
  readonly deferred: ReadonlyMap<string, Deferral>;
}

/** Pods of one workload that are removed before another one has its turn. */
const REMOVED_AT_ONCE = 10;

/**
 * Which of all the intents that wait may be carried out now. Total, and the same for the same intents in any order.
 *
 * - One disruption of a pod that has run for each workload, whoever asks.
 * - A lower rank goes first. Distribution and right-sizing get a tenth of the evictions while they wait.
 * - Within a rank the namespace with the least under way goes first, then the longest waiting.
 * - An eviction from a node that is about to be taken away spends budgets and waits for none of them.
 */
export function arbitrate(
  intents: Iterable<Intent>,
  register: RegisterView,
  budgets: Budgets,
  nowMs: number,
): Arbitration {
  const evictions: EvictIntent[] = [];
  const removals: RemovalIntent[] = [];
  const resizes: ResizeIntent[] = [];
  for (const intent of intents) {
    if (intent.kind === 'evict') evictions.push(intent);
    else if (intent.kind === 'removeNeverRan') removals.push(intent);
    else resizes.push(intent);
  }
  const use = new Use(register, budgets, nowMs);
  const deferred = new Map<string, Deferral>();
  const evicted = arbitrateEvictions(evictions, use, register, budgets, deferred);
  const minute = new MinuteUse(register.removed, budgets.maxRemovalsPerMinute, nowMs);
  const removed = arbitrateRemovals(removals, minute, deferred);
  const going = new Set(removed.flatMap(({ pods }) => pods.map(({ uid }) => uid)));
  // A pod on its way out needs no other size.
  const resized = resizes.toSorted(inOrder).filter(({ id, module, pod }) => {
    const deferral =
      use.going(pod.uid) ??
      (going.has(pod.uid) ? ({ reason: 'WorkloadBusy', by: module, sinceMs: nowMs } as const) : null);
    if (deferral !== null) deferred.set(id, deferral);
    return deferral === null;
  });
  return { granted: [...evicted, ...removed, ...resized], deferred };
}

function arbitrateEvictions(
  intents: readonly EvictIntent[],
  use: Use,
  register: RegisterView,
  budgets: Budgets,
  deferred: Map<string, Deferral>,
): readonly EvictIntent[] {
  const granted: EvictIntent[] = [];
  const turns = new Turns(
    byRank(intents, (namespace) => use.loadOf(namespace)),
    register.turns,
    budgets.maxMovesPerMinute,
  );
  for (let intent = turns.take(); intent !== undefined; intent = turns.take()) {
    const isExempt = intent.rank === ranks.interruption;
    const deferral =
      use.busy(intent.workload.uid) ?? (isExempt ? null : use.spent(intent.workload.namespace, intent.node));
    if (deferral !== null) {
      deferred.set(intent.id, deferral);
      continue;
    }
    use.take(intent);
    if (!isExempt) turns.took(intent.rank);
    granted.push(intent);
  }
  return granted;
}

function arbitrateRemovals(
  intents: readonly RemovalIntent[],
  minute: MinuteUse,
  deferred: Map<string, Deferral>,
): readonly RemovalIntent[] {
  const granted = new Map<string, RemovalIntent>();
  for (const queue of byRank(intents, (namespace) => minute.of(namespace)).values()) {
    for (let intent = queue.take(); intent !== undefined; intent = queue.take()) {
      const { id, pods, workload } = intent;
      const count = Math.min(pods.length, REMOVED_AT_ONCE, minute.left);
      if (count === 0 && pods.length > 0) {
        deferred.set(id, spentMinute(minute, 'removals'));
        continue;
      }
      minute.take(workload.namespace, count);
      const before = granted.get(id)?.pods ?? [];
      granted.set(id, { ...intent, pods: [...before, ...pods.slice(0, count)] });
      if (pods.length > count) queue.putBack({ ...intent, pods: pods.slice(count) });
    }
  }
  return [...granted.values()];
}
