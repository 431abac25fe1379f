import type { PodReference } from '../../cluster/reference.ts';
import type { Deferral, TakingOver } from '../../disruption/register.ts';
import {
  type DisruptedWorkload,
  type EvictIntent,
  type Rank,
  ranks,
  type RemovalIntent,
} from '../../disruption/intent.ts';
import { type DecidedFor, held, type Move, type RebalanceReason, type RebalanceTrace } from './verdict.ts';

/** What is free again wakes whoever waits for it; this is for what nobody hears of. */
const RETRY_MS = 30_000;

export interface Asker {
  /** As `distribution/<kind>/<namespace>/<name>`. */
  readonly subject: string;
  readonly disrupts: DisruptedWorkload;
  readonly nowMs: number;
}

const rankOf = (reason: RebalanceReason): Rank =>
  reason === 'FloorShort' ? ranks.floor : ranks.distribution;

/** What a move asks for. A workload has one move at a time, so that its subject is name enough. */
export function evictionFor(
  { subject, disrupts, nowMs }: Asker,
  reason: RebalanceReason,
  { pod, node }: Move,
): EvictIntent {
  return {
    kind: 'evict',
    id: subject,
    module: 'distribution',
    rank: rankOf(reason),
    subject,
    sinceMs: nowMs,
    workload: disrupts,
    pod,
    node,
  };
}

/** What the removal of pods that wait in vain asks for. */
export const removalFor = (
  { subject, disrupts, nowMs }: Asker,
  pods: readonly PodReference[],
): RemovalIntent => ({
  kind: 'removeNeverRan',
  id: subject,
  module: 'distribution',
  rank: ranks.distribution,
  subject,
  sinceMs: nowMs,
  workload: disrupts,
  pods,
});

/** Says what an intent that was deferred waits for. */
export function heldBack(
  deferral: Deferral | TakingOver,
  nowMs: number,
): DecidedFor<'WorkloadBusy'> | DecidedFor<'BudgetSpent'> | DecidedFor<'TakingOver'> {
  const retryAtMs = nowMs + RETRY_MS;
  if (deferral.reason === 'TakingOver') return held('TakingOver', {}, retryAtMs);
  if (deferral.reason === 'WorkloadBusy') {
    const { by, sinceMs } = deferral;
    return held('WorkloadBusy', { by, sinceMs }, retryAtMs);
  }
  const { budget, used, limit, untilMs } = deferral;
  return held('BudgetSpent', { budget, used, limit }, untilMs ?? retryAtMs);
}

/** The decision as it stands after what it asked for was deferred. */
export const deferred = (
  trace: RebalanceTrace,
  deferral: Deferral | TakingOver,
  nowMs: number,
): RebalanceTrace => ({
  ...trace,
  ...heldBack(deferral, nowMs),
});
