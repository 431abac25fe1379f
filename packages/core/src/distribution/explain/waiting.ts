import type { WaitCounts } from '../droughts/lasting.ts';
import { type Wait, waitOrder } from '../droughts/waiting.ts';
import { reasonTraits } from '../moves/reason.ts';
import type { RebalanceReason } from '../moves/verdict.ts';

export const podCount = (count: number): string => `${count} ${count === 1 ? 'pod' : 'pods'}`;

const waits: Readonly<Record<Wait, string>> = {
  SpotCapacity: 'without spot capacity',
  OnDemandCapacity: 'without on-demand capacity',
  SpotOnly: 'without spot capacity, where an affinity or a volume rules out on-demand',
  VolumeUnreachable: 'with a volume that no known spot node can reach',
  NoSuchNode:
    'that no known node could take, of either type and even empty (check requests, nodeSelector, affinity and tolerations)',
  AnyNode: 'for which the scheduler finds no node',
  Scheduler: 'that no scheduler has looked at (check spec.schedulerName, and that this scheduler runs)',
  SchedulingGate: 'with a scheduling gate that nobody has lifted',
  Preemption: 'whose node is still being cleared by preemption',
  Volume: 'with a PersistentVolumeClaim that is missing or not bound',
};

/** How many pods wait for what. */
export const waitingFor = (counts: WaitCounts): string =>
  waitOrder
    .filter((wait) => (counts[wait] ?? 0) > 0)
    .map((wait) => `${podCount(counts[wait] ?? 0)} ${waits[wait]}`)
    .join(', ');

/** The same of those that the sentence on this reason does not speak of; empty where there are none. */
export function waitingBeside(reason: RebalanceReason, counts: WaitCounts): string {
  const said: readonly string[] = reasonTraits[reason].tells ?? [];
  return waitingFor(Object.fromEntries(Object.entries(counts).filter(([wait]) => !said.includes(wait))));
}
