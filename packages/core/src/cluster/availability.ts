import { resolveFraction } from './fraction.ts';
import type { Member } from './workload-pod.ts';
import type { WorkloadView } from './workload.ts';

export interface Availability {
  readonly available: number;
  /** How many must be available after a move. */
  readonly needed: number;
  /** Whether one Ready pod may go. */
  readonly sparesOne: boolean;
}

/** How many pods the workload itself allows to be away in a rollout, but at least one: else nothing could move. */
function mayBeAway(workload: WorkloadView): number {
  if (workload.kind === 'StatefulSet' || workload.strategy.type === 'Recreate') return 1;
  const { maxUnavailable } = workload.strategy;
  // Rounded down, as the Deployment controller does.
  return Math.max(1, resolveFraction(maxUnavailable, workload.replicas, 'down') ?? 1);
}

/** The application's own limit, whether or not it has a PDB. */
export function availabilityOf(workload: WorkloadView, members: readonly Member[]): Availability {
  const ready = members.filter(({ pod }) => pod.ready).length;
  // The status knows of minReadySeconds, the pods are the newer of the two.
  const available = Math.min(workload.availableReplicas, ready);
  const needed = workload.replicas - mayBeAway(workload);
  return { available, needed, sparesOne: available - 1 >= needed };
}
