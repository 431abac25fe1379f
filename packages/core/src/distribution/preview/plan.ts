import type { CapacityType } from '../../capacity/type.ts';
import type { TypeCounts } from '../../policy/target.ts';
import { targetOnDemand } from '../../policy/target.ts';
import { arbitrate } from '../../disruption/arbitrate.ts';
import { afterMove } from '../../disruption/cooldown.ts';
import { nothingUnderWay, type Spent } from '../../disruption/register.ts';
import { decide } from '../moves/decide.ts';
import { membersOf } from '../../cluster/member.ts';
import { reasonTraits } from '../moves/reason.ts';
import { deferred, evictionFor } from '../moves/request.ts';
import type { RebalanceSnapshot } from '../moves/snapshot.ts';
import { wantsMoves } from '../moves/standing.ts';
import type { Move, RebalanceReason, RebalanceTrace } from '../moves/verdict.ts';
import { scaled, type ScaleStep } from './scaled.ts';
import { annotatedAs, appear, countsOf, isWithoutRoom, landed, numbersOf, vanish } from './effects.ts';

export interface PlannedMove {
  /** When its eviction is sent, at the earliest. */
  readonly atMs: number;
  readonly pod: string;
  readonly from: CapacityType;
  readonly to: CapacityType;
  /** What the pod that comes in its place gets; null where admission leaves it as it is. */
  readonly replacement: CapacityType | null;
}

/** What keeps moves waiting at some time, and until when. */
export interface PlannedWait {
  readonly reason: RebalanceReason;
  readonly untilMs: number;
}

export interface Plan {
  readonly before: TypeCounts;
  readonly after: TypeCounts;
  readonly target: TypeCounts;
  /** When the pod should be Ready that is being replaced now, if one is; the plan begins after that. */
  readonly underWayUntilMs: number | null;
  /** What the change of the replicas alone does, before any move. */
  readonly scaling: readonly ScaleStep[];
  readonly moves: readonly PlannedMove[];
  /** The longest waits: closed windows. */
  readonly waits: readonly PlannedWait[];
  readonly endsAtMs: number;
  /** `reached`: nothing is left to do. Else what stops it, as the controller would tell it. */
  readonly outcome: 'reached' | 'stopped';
  readonly last: RebalanceTrace;
  /** New pods for which no node of their type has room now. */
  readonly unscheduled: number;
  /** The fewest on-demand pods at any time, against the floor. */
  readonly fewestOnDemand: number;
  readonly floor: number;
}

export interface PlanOptions {
  readonly replicas: number;
  readonly policyChanges: boolean;
  readonly nowMs: number;
  /** From the eviction of a pod until its replacement is Ready. */
  readonly replacementMs: number;
}

/** More moves than any workload has pods: a preview that does not end has gone wrong. */
const MOST_STEPS = 5_000;

const endsByItself = (trace: RebalanceTrace): boolean =>
  reasonTraits[trace.reason].endsInTime === true ||
  (trace.reason === 'BudgetSpent' && trace.facts.budget === 'minute');

interface State {
  readonly snapshot: RebalanceSnapshot;
  readonly nowMs: number;
  /** The moves before. */
  readonly begun: readonly Spent[];
}

/** What the controller would do now, if nobody else asked for anything. */
function decideAlone({ snapshot, nowMs, begun }: State): RebalanceTrace {
  const trace = decide(snapshot, nowMs);
  if (trace.verdict.kind !== 'move') return trace;
  const { workload, settings } = snapshot;
  const { kind, uid, namespace, name } = workload;
  const asker = { subject: `distribution/${kind}/${namespace}/${name}`, disrupts: { uid, namespace }, nowMs };
  const asked = evictionFor(asker, trace.reason, trace.verdict.move);
  const { maxInFlight, maxMovesPerMinute, fallback } = settings;
  const budgets = { maxInFlight, maxMovesPerMinute, maxRemovalsPerMinute: fallback.maxRemovalsPerMinute };
  const answer = arbitrate([asked], { ...nothingUnderWay, begun }, budgets, nowMs).deferred.get(asked.id);
  return answer === undefined ? trace : deferred(trace, answer, nowMs);
}

/**
 * What would happen to a workload if nothing else did: the controller's own decisions, one after another, each on
 * what the one before left behind. `snapshot` has the policy to be tried.
 */
export function planFor(snapshot: RebalanceSnapshot, options: PlanOptions): Plan {
  const { nowMs, replicas, policyChanges, replacementMs } = options;
  const members = membersOf(snapshot.workload, snapshot.pods, snapshot.nodes);
  const before = countsOf(members);
  const isMoving = snapshot.budgets.workload > 0;
  const isWhole = !isMoving && members.length >= snapshot.workload.replicas;
  const underWay = isWhole ? null : landed(snapshot, nowMs, replacementMs);
  const beginsAtMs = underWay?.byMs ?? nowMs;
  const settled = underWay?.snapshot ?? snapshot;
  const change = scaled(
    isMoving && underWay !== null ? resting(settled, beginsAtMs) : settled,
    replicas,
    nowMs,
  );
  const { workload } = change.snapshot;
  let state: State = {
    snapshot: policyChanges
      ? { ...change.snapshot, workload: { ...workload, policyChangedAtMs: nowMs } }
      : change.snapshot,
    nowMs: beginsAtMs,
    begun: [],
  };
  const floor = Math.min(numbersOf(snapshot).minOnDemand, replicas);
  const onDemandOf = (of: RebalanceSnapshot): number =>
    countsOf(membersOf(of.workload, of.pods, of.nodes)).onDemand;
  let fewestOnDemand = onDemandOf(state.snapshot);
  const moves: PlannedMove[] = [];
  const waits: PlannedWait[] = [];
  let last = decideAlone(state);
  for (let step = 0; step < MOST_STEPS; step++) {
    const { verdict } = last;
    if (isReached(last) && verdict.kind !== 'correct') break;
    if (verdict.kind === 'move') {
      const gone = vanish(state.snapshot, verdict.move.pod.uid, 'moved');
      fewestOnDemand = Math.min(fewestOnDemand, onDemandOf(gone));
      const { next, replacement } = replaced({ ...state, snapshot: gone }, verdict.move, replacementMs);
      const { pod, from, to } = verdict.move;
      moves.push({ atMs: state.nowMs, pod: pod.name, from, to, replacement });
      state = next;
    } else if (verdict.kind === 'correct') {
      state = { ...state, snapshot: annotatedAs(state.snapshot, verdict.corrections) };
    } else if (verdict.kind === 'wait' && endsByItself(last) && verdict.untilMs > state.nowMs) {
      if (last.reason === 'WindowClosed') waits.push({ reason: last.reason, untilMs: verdict.untilMs });
      state = { ...state, nowMs: verdict.untilMs };
    } else break;
    last = decideAlone(state);
  }
  const ending = membersOf(state.snapshot.workload, state.snapshot.pods, state.snapshot.nodes);
  const onDemand = targetOnDemand(numbersOf(snapshot), replicas);
  return {
    before,
    after: countsOf(ending),
    target: { spot: replicas - onDemand, onDemand },
    scaling: change.steps,
    moves,
    waits,
    underWayUntilMs: underWay === null ? null : beginsAtMs,
    endsAtMs: moves.length === 0 ? beginsAtMs : (state.snapshot.history?.endedAtMs ?? state.nowMs),
    outcome: isReached(last) ? 'reached' : 'stopped',
    unscheduled: ending.filter(({ pod }) => isWithoutRoom(pod)).length,
    last,
    fewestOnDemand,
    floor,
  };
}

const isReached = ({ standing }: RebalanceTrace): boolean => standing !== null && !wantsMoves(standing);

/** As after any move. Which way it went matters to no gate. */
function resting(snapshot: RebalanceSnapshot, endedAtMs: number): RebalanceSnapshot {
  const ended = { from: 'spot', to: 'on-demand', outcome: 'succeeded', override: null } as const;
  return { ...snapshot, history: afterMove(snapshot.history, ended, endedAtMs) };
}

/** The replacement is there and Ready, and the workload rests. */
function replaced(
  { snapshot: gone, nowMs, begun }: State,
  { pod, from, to }: Move,
  replacementMs: number,
): { readonly next: State; readonly replacement: CapacityType | null } {
  const name = gone.workload.kind === 'StatefulSet' ? pod.name : `replacement of ${pod.name}`;
  const { snapshot, type } = appear(gone, name, nowMs, 'moved');
  const readyAtMs = nowMs + replacementMs;
  const outcome = type === to ? 'succeeded' : 'failed';
  const history = afterMove(snapshot.history, { from, to, outcome, override: null }, readyAtMs);
  const workload = { ...snapshot.workload, podGoneAtMs: nowMs };
  return {
    next: {
      snapshot: { ...snapshot, workload, history },
      nowMs: readyAtMs,
      begun: [...begun, { namespace: workload.namespace, atMs: nowMs }],
    },
    replacement: type,
  };
}
