import { hasForeignCost } from '../capacity/mark.ts';
import { correctionsOf } from './correct.ts';
import { moveGate, steadyGate, writeGate } from './gate.ts';
import { activeRevision, membersOf } from './member.ts';
import { nextMove } from './move.ts';
import type { Member } from './pod.ts';
import { renumberingsOf } from './renumber.ts';
import { unsettled } from './settled.ts';
import type { RebalanceSnapshot } from './snapshot.ts';
import { standingOf } from './standing.ts';
import { type Decided, held, type RebalanceTrace, type Standing } from './verdict.ts';

/**
 * What to do about one workload now, and why. Total: every snapshot has an answer, and the same one every time.
 *
 * The order of the gates is the order in which reasons are reported. Two kinds of writing are no moves, disturb no
 * pod and so have gates of their own: an annotation is corrected even while moves are held, because admissions count
 * by it; and costs are renumbered whenever the workload is steady, because a scale-down knows no window.
 */
export function decide(snapshot: RebalanceSnapshot, nowMs: number): RebalanceTrace {
  const { workload, policy } = snapshot;
  const members = membersOf(workload, snapshot.pods, snapshot.nodes);
  const standing = policy.kind === 'none' ? null : standingOf(workload, policy.numbers, members);
  return { ...decided(snapshot, members, standing, nowMs), standing };
}

function decided(
  snapshot: RebalanceSnapshot,
  members: readonly Member[],
  standing: Standing | null,
  nowMs: number,
): Decided {
  const closed = writeGate(snapshot, nowMs);
  if (closed !== null) return closed;
  if (standing === null) return held('NoPolicy', {});
  return (
    correct(snapshot, members, standing) ??
    renumber(snapshot, members, standing, nowMs) ??
    moveGate(snapshot, nowMs) ??
    (standing.drift === 0 ? held('Balanced', {}) : null) ??
    unsettled(snapshot.workload, members, nowMs) ??
    nextMove(snapshot, members, standing, nowMs)
  );
}

function correct(
  { workload }: RebalanceSnapshot,
  members: readonly Member[],
  { numbers }: Standing,
): Decided | null {
  if (workload.deleting) return null;
  const corrections = correctionsOf(workload, numbers, members);
  if (corrections.length === 0) return null;
  return {
    verdict: { kind: 'correct', corrections },
    reason: 'NodeDiffers',
    facts: { pods: corrections.map(({ pod }) => pod.name) },
  };
}

function renumber(
  snapshot: RebalanceSnapshot,
  members: readonly Member[],
  { drift, untyped, numbers }: Standing,
  nowMs: number,
): Decided | null {
  const { workload } = snapshot;
  if (drift !== 0 || untyped > 0) return null;
  const revision = activeRevision(workload);
  if (revision === null || hasForeignCost(revision.template.metadata?.annotations ?? {})) return null;
  if (steadyGate(snapshot, nowMs) !== null) return null;
  const renumberings = renumberingsOf(numbers, members);
  if (renumberings.length === 0) return null;
  const change = unsettled(workload, members, nowMs);
  // What holds moves comes first in a report, settled or not.
  if (change !== null) return moveGate(snapshot, nowMs) ?? change;
  return {
    verdict: { kind: 'renumber', renumberings },
    reason: 'CostOrder',
    facts: { pods: renumberings.length },
  };
}
