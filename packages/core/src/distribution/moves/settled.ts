import { activeRevision } from '../../cluster/member.ts';
import type { Member } from '../../cluster/workload-pod.ts';
import { type Decided, held } from './verdict.ts';
import type { WorkloadView } from '../../cluster/workload.ts';

/** Longer than the ledger, the caches and the ReplicaSet controller take to agree on what has happened. */
const SETTLE_MS = 3_000;
/** What keeps pods from being created for so long, a quota perhaps, may never end. */
const MISSING_MS = 60_000;

/**
 * Null when nothing has changed for a while and all pods are there, or all that somebody lets be: only then do counts
 * mean something.
 */
export function unsettled(workload: WorkloadView, members: readonly Member[], nowMs: number): Decided | null {
  const lastCreatedAtMs = Math.max(0, ...members.map(({ pod }) => pod.createdAtMs));
  const changes = [
    { change: 'policy', atMs: workload.policyChangedAtMs ?? 0 },
    { change: 'replicas', atMs: workload.replicasChangedAtMs ?? 0 },
    { change: 'pods', atMs: Math.max(lastCreatedAtMs, workload.podGoneAtMs ?? 0) },
  ] as const;
  const latest = changes.reduce((a, b) => (b.atMs > a.atMs ? b : a));
  const untilMs = latest.atMs + SETTLE_MS;
  if (untilMs > nowMs) return held('Settling', { untilMs, change: latest.change }, untilMs);
  const wanted = activeRevision(workload)?.replicas ?? workload.replicas;
  const isScaled = wanted === workload.replicas;
  // Pending pods are there; what is missing or too many is still to be created or deleted.
  if (isScaled && members.length === wanted) return null;
  const facts = { pods: members.length, wanted: workload.replicas };
  if (!isScaled || members.length > wanted) return held('PodsMissing', facts);
  const missingUntilMs = latest.atMs + MISSING_MS;
  return missingUntilMs <= nowMs ? null : held('PodsMissing', facts, missingUntilMs);
}
