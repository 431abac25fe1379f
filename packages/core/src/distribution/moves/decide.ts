import { allowedTypes } from '../../capacity/allowed.ts';
import { hasForeignCost } from '../../capacity/mark.ts';
import {
  awaitingSpot,
  beyondRepair,
  type Bridging,
  bridge,
  inDrought,
  waitingByNodes,
} from '../droughts/bridge.ts';
import { lastingWaits, nextLastingMs, unscheduled } from '../droughts/lasting.ts';
import { correctionsOf } from './correct.ts';
import { carryOutGate, moveGate, steadyGate, writeGate } from './gate.ts';
import { activeRevision, membersOf, templatesOf } from '../../cluster/member.ts';
import { nextMove, type Surplus } from './move.ts';
import { membersBelowFloor } from './ordinals.ts';
import type { Member } from '../../cluster/workload-pod.ts';
import { overridden } from './overridden.ts';
import { renumberingsOf } from './renumber.ts';
import { unsettled } from './settled.ts';
import type { RebalanceSnapshot } from './snapshot.ts';
import { standingOf, wantsMoves } from './standing.ts';
import { type Decided, held, type RebalanceTrace, type Standing } from './verdict.ts';

/**
 * What to do about one workload now, and why. Total: every snapshot has an answer, and the same one every time.
 *
 * The order of the gates is the order in which reasons are reported, after what no move would mend. Two kinds of
 * writing are no moves, disturb no pod and so have gates of their own: an annotation is corrected even while moves are
 * held, because admissions count by it; and costs are renumbered whenever the workload is steady, because a scale-down
 * knows no window. A drought is bridged whatever holds moves, because the pods that go have never run, and before any
 * annotation is written, because an admission policy may refuse that for ever.
 */
export function decide(snapshot: RebalanceSnapshot, nowMs: number): RebalanceTrace {
  const { workload, policy } = snapshot;
  const members = membersOf(workload, snapshot.pods, snapshot.nodes);
  const standing = policy.kind === 'none' ? null : standingOf(workload, policy.numbers, members);
  const closed = writeGate(snapshot, nowMs);
  if (closed !== null) {
    const isOurs = standing !== null && snapshot.managed.managed;
    const waiting = isOurs ? lastingWaits(waitingByNodes(snapshot, members), nowMs) : {};
    return { ...closed, standing, drought: null, waiting };
  }
  if (standing === null) return { ...held('NoPolicy', {}), standing, drought: null, waiting: {} };
  const bridging = bridge(snapshot, members, standing, nowMs);
  const { waiting } = bridging;
  const wanted = decideBeside(bridging, snapshot, members, standing, nowMs);
  const decided = carryOutGate(snapshot, wanted, nowMs) ?? wanted;
  const inTime = noLaterThan(nextLastingMs(waiting, nowMs), noLaterThan(bridging.againAtMs, decided));
  return { ...inTime, standing, drought: bridging.state, waiting: lastingWaits(waiting, nowMs) };
}

function decideBeside(
  bridging: Bridging,
  snapshot: RebalanceSnapshot,
  members: readonly Member[],
  standing: Standing,
  nowMs: number,
): Decided {
  if (bridging.decided?.verdict.kind === 'bridge') return bridging.decided;
  const first = correct(snapshot, members, standing) ?? bridging.decided;
  if (first !== null) return first;
  const costs = renumber(snapshot, members, standing, nowMs);
  if (costs?.verdict.kind === 'renumber') return costs;
  return (
    toBeTold(bridging, snapshot, members, standing, nowMs) ??
    moveGate(snapshot, nowMs) ??
    costs ??
    (wantsMoves(standing) ? null : (awaitingSpot(snapshot, bridging) ?? held('Balanced', {}))) ??
    keepFloor(snapshot, members, standing, nowMs) ??
    inDrought(snapshot, standing, nowMs) ??
    unsettled(snapshot.workload, members, nowMs) ??
    nextMove(snapshot, members, standing, driftOf(members, standing), nowMs)
  );
}

/**
 * The ordinals that the floor needs after a scale-down. Where none of them may be moved, a drift does not wait for
 * them.
 */
function keepFloor(
  snapshot: RebalanceSnapshot,
  members: readonly Member[],
  standing: Standing,
  nowMs: number,
): Decided | null {
  const { workload } = snapshot;
  if (workload.kind !== 'StatefulSet') return null;
  const pods = membersBelowFloor(workload, standing.numbers, members);
  if (pods.length === 0) return null;
  const decided =
    unsettled(workload, members, nowMs) ??
    nextMove(snapshot, members, standing, { reason: 'FloorOrdinal', from: 'spot', pods }, nowMs);
  return standing.drift === 0 || decided.verdict.kind === 'move' ? decided : null;
}

const driftOf = (pods: readonly Member[], { drift }: Standing): Surplus =>
  drift > 0
    ? { reason: 'SpotSurplus', from: 'spot', pods }
    : { reason: 'OnDemandSurplus', from: 'on-demand', pods };

/** What no move would mend, so that it is said whatever holds moves: a window may be open at night only. */
function toBeTold(
  { waiting }: Bridging,
  snapshot: RebalanceSnapshot,
  members: readonly Member[],
  standing: Standing,
  nowMs: number,
): Decided | null {
  if (wantsMoves(standing)) return overridden(snapshot, members);
  return (
    beyondRepair(snapshot, members, standing, nowMs) ?? unplaceable(snapshot) ?? unscheduled(waiting, nowMs)
  );
}

/** Admission leaves such pods as they are, so that they are of no type and no drift would ever show. */
function unplaceable({ workload, settings }: RebalanceSnapshot): Decided | null {
  const isLeftAlone = templatesOf(workload).some(
    ({ spec }) => allowedTypes(spec, settings.placement) === 'none',
  );
  return isLeftAlone ? held('PlacementConflict', { to: null }) : null;
}

/** Whatever else is waited for: a drought goes by its own times. */
function noLaterThan(atMs: number | null, decided: Decided): Decided {
  const { verdict } = decided;
  if (atMs === null || (verdict.kind !== 'nothing' && verdict.kind !== 'wait')) return decided;
  const untilMs = verdict.kind === 'wait' ? Math.min(verdict.untilMs, atMs) : atMs;
  return { ...decided, verdict: { kind: 'wait', untilMs } };
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

/** The costs to be written, or what has to settle before they are. */
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
  if (change !== null) return change;
  return {
    verdict: { kind: 'renumber', renumberings },
    reason: 'CostOrder',
    facts: { pods: renumberings.length },
  };
}
