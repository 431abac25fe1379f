import { readPodMark } from '../../capacity/mark.ts';
import { evidenceFor } from '../../cluster/fit.ts';
import { templatesOf } from '../../cluster/member.ts';
import type { Nodes } from '../../cluster/node.ts';
import { type Member, noVolumes } from '../../cluster/workload-pod.ts';
import { referenceTo } from '../../cluster/reference.ts';
import type { DroughtState, RebalanceSnapshot } from '../moves/snapshot.ts';
import { refusedBefore } from '../moves/gate.ts';
import { heldBack } from '../moves/request.ts';
import { type Decided, held, type Standing, type Verdict } from '../moves/verdict.ts';
import { type Breaker, type DroughtLook, probeAtMs, type Step, stepBreaker } from './breaker.ts';
import { unprovableConstraint } from '../../cluster/spread.ts';
import { emptyNode } from './shape.ts';
import { isWithdrawing } from './notice.ts';
import { isStuck, mayYetTell, type WaitingPod, waitingPods } from './waiting.ts';

type Watched = Extract<DroughtState, { kind: 'watched' }>;
type Told = Extract<DroughtState, { kind: 'told' }>;

/** What a look at the spot capacity of a workload comes to. */
export interface Bridging {
  /** To be done before anything else; null when there is nothing to do. */
  readonly decided: Decided | null;
  /** When time alone changes something; null when it does not. */
  readonly againAtMs: number | null;
  /** What it was before anything is done; null where nobody keeps it. */
  readonly state: Breaker['state'] | null;
  /** Every pod without a node, the longest waiting first. */
  readonly waiting: readonly WaitingPod[];
}

/** A pod admitted to spot in spite of an open breaker waits its own time, so that no fault can remove in a circle. */
const OVERTAKEN_MS = 5_000;

/**
 * Opens, tries and closes the workload's breaker, and removes pods that wait for spot capacity in vain, so that their
 * replacements are substitutes. Windows, cooldowns and PDBs are for moves; a pod that never ran disrupts nobody.
 */
export function bridge(
  snapshot: RebalanceSnapshot,
  members: readonly Member[],
  standing: Standing,
  nowMs: number,
): Bridging {
  const { drought, policy, workload, ledger, settings } = snapshot;
  const isWatched = drought.kind === 'watched' && policy.kind === 'valid' && ledger.kind === 'reachable';
  if (!isWatched || workload.deleting) {
    const state = drought.kind === 'told' ? (drought.report?.state ?? 'closed') : null;
    return { decided: null, againAtMs: null, state, waiting: waitingByNodes(snapshot, members) };
  }
  const { breaker, permit, shapes } = drought;
  const waiting = waitingPods(members, { workload, placement: settings.placement, shapes: () => shapes });
  const stuck = waiting.filter(isStuck);
  const mayRemove = !policy.paused && snapshot.webhook.kind === 'serving';
  const look = lookAt(snapshot, drought, members, standing, waiting, mayRemove);
  const step = stepBreaker(
    breaker,
    permit,
    { ...look, fallbackAfterMs: policy.fallbackAfterMs },
    settings.fallback.backoff,
    nowMs,
  );
  const removable = mayRemove ? dueForRemoval(step.breaker, stuck, policy.fallbackAfterMs, nowMs) : [];
  const found = { againAtMs: step.againAtMs, state: breaker.state, waiting };
  if (step.change === null) {
    if (removable.length === 0) return { ...found, decided: null };
    const refused = removalRefused(snapshot);
    if (refused !== null) return { ...found, decided: refused };
    if (drought.deferral !== null) return { ...found, decided: heldBack(drought.deferral, nowMs) };
  }
  const verdict: Verdict = {
    kind: 'bridge',
    next: step.change === null ? null : { breaker: step.breaker, permits: step.permits },
    remove: removable.map(({ member, sinceMs }) => ({ ...referenceTo(member.pod), sinceMs })),
  };
  return { ...found, decided: { verdict, ...reasonOf(step, breaker, look, stuck, removable.length, nowMs) } };
}

/** What a PDB refused was a move; these pods have none to fear. */
const removalRefused = ({ refused: { evict } }: RebalanceSnapshot): Decided | null =>
  evict?.reason === 'EvictionRefused' ? null : refusedBefore(evict);

/** Who does not remember nodes that are gone goes by those there are. */
export function waitingByNodes(
  { workload, settings, nodes }: RebalanceSnapshot,
  members: readonly Member[],
): readonly WaitingPod[] {
  let made: Nodes | undefined;
  // Most workloads have no pod that waits for capacity, and a cluster has many nodes.
  const shapes = (): Nodes =>
    (made ??= new Map(Array.from(nodes.values(), (node) => [node.name, emptyNode(node)] as const)));
  return waitingPods(members, { workload, placement: settings.placement, shapes });
}

function lookAt(
  snapshot: RebalanceSnapshot,
  { breaker, recorded, pool, mayProbe }: Watched,
  members: readonly Member[],
  { drift, replicas }: Standing,
  waiting: readonly WaitingPod[],
  mayRemove: boolean,
): Omit<DroughtLook, 'fallbackAfterMs'> {
  const stuck = mayRemove ? waiting.filter(isStuck) : [];
  const pending = waiting.filter(mayYetTell);
  const substitutes = members.filter(
    ({ pod, type }) => type === 'on-demand' && readPodMark(pod.annotations).substitute,
  );
  const lacking = Math.max(0, -drift);
  // Marks outlive a drought, on pods that count for the floor by now; and a pod that is away is not replaced yet.
  const tell = !recorded && members.length >= replicas && substitutes.length > 0;
  const known = pool.kind === 'open' || (stuck.length > 0 && isWithdrawing(snapshot.nodes, 'spot'));
  const [first] = stuck;
  // A walk over all nodes, for which most workloads have no need.
  const asks = breaker.state !== 'closed' || stuck.length > 0 || (lacking > 0 && substitutes.length > 0);
  return {
    waitingSinceMs: first?.sinceMs ?? null,
    pending: pending.length,
    isHeld: !mayRemove && pending.some(isStuck),
    scheduledAtMs: latest(members.filter(({ pod, type }) => type === 'spot' && pod.nodeName !== null)),
    room: asks && hasRoom(snapshot, members),
    placeholder: lacking === 0 ? 'none' : placeholderOf(snapshot),
    lacking,
    substitutesSinceMs: tell ? Math.min(...substitutes.map(({ pod }) => pod.createdAtMs)) : null,
    known,
    permitOnly: pool.kind !== 'closed',
    mayProbe,
  };
}

/** One is asked for as for any move to spot, so that there is none where nothing is to be moved. */
function placeholderOf({ placeholders, workload }: RebalanceSnapshot): DroughtLook['placeholder'] {
  const { kind } = placeholders.spot;
  if (kind === 'off' || !templatesOf(workload).some((one) => unprovableConstraint(one) === null))
    return 'none';
  if (kind === 'running') return kind;
  return kind === 'refused' ? 'failed' : 'waiting';
}

const latest = (members: readonly Member[]): number | null =>
  members.length === 0 ? null : Math.max(...members.map(({ pod }) => pod.createdAtMs));

function hasRoom({ workload, settings, nodes }: RebalanceSnapshot, members: readonly Member[]): boolean {
  return templatesOf(workload).some(
    (template) =>
      evidenceFor({
        template,
        to: 'spot',
        placement: settings.placement,
        nodes,
        staying: members,
        volumes: noVolumes,
        room: 'free',
      }).kind === 'fits',
  );
}

/** Whoever was admitted before the breaker opened has waited for all; later ones should not be there. */
function dueForRemoval(
  breaker: Breaker,
  stuck: readonly WaitingPod[],
  fallbackAfterMs: number | 'never',
  nowMs: number,
): readonly WaitingPod[] {
  if (breaker.state !== 'open' || fallbackAfterMs === 'never') return [];
  return stuck.filter(
    ({ member: { pod }, sinceMs }) =>
      pod.createdAtMs <= breaker.openedAtMs + OVERTAKEN_MS || sinceMs + fallbackAfterMs <= nowMs,
  );
}

type Reasoned = Decided extends infer One ? (One extends Decided ? Omit<One, 'verdict'> : never) : never;

function reasonOf(
  { change, breaker: next }: Step,
  before: Breaker,
  look: Omit<DroughtLook, 'fallbackAfterMs'>,
  stuck: readonly WaitingPod[],
  removed: number,
  nowMs: number,
): Reasoned {
  const nextProbeAtMs = next.state === 'open' ? probeAtMs(next) : nowMs;
  switch (change) {
    case null:
      return { reason: 'StuckRemoved', facts: { removed, waiting: stuck.length } };
    case 'opened': {
      const facts = {
        waiting: stuck.length,
        sinceMs: look.waitingSinceMs ?? nowMs,
        removed,
        told: look.known,
        nextProbeAtMs,
      };
      return { reason: 'FallbackStarted', facts };
    }
    case 'rebuilt':
      return { reason: 'FallbackFound', facts: { substitutes: look.lacking, nextProbeAtMs } };
    case 'reopened':
    case 'postponed':
      return { reason: 'FallbackGoesOn', facts: { removed, nextProbeAtMs } };
    case 'half-opened': {
      const by = look.room ? 'room' : look.placeholder === 'running' ? 'placeholder' : 'admission';
      return { reason: 'ReturnTried', facts: { by, substitutes: look.lacking } };
    }
    case 'armed':
    case 'proven':
      return { reason: 'ReturnGoesOn', facts: { substitutes: look.lacking } };
    case 'closed':
    case 'left':
    case 'waived':
      return {
        reason: 'FallbackEnded',
        facts: {
          how: change,
          sinceMs: before.state === 'closed' ? nowMs : before.sinceMs,
          returnedSinceMs: change === 'closed' && before.state === 'half-open' ? before.probedAtMs : null,
        },
      };
    default:
      return change satisfies never;
  }
}

/** What keeps substitutes where they are, although the policy wants spot pods; null when they may be moved. */
export function inDrought(
  { drought }: RebalanceSnapshot,
  { drift }: Standing,
  nowMs: number,
): Decided | null {
  if (drift >= 0) return null;
  if (drought.kind === 'told') return toldOf(drought, nowMs);
  if (drought.kind !== 'watched') return null;
  const { breaker, permit, pool, mayProbe } = drought;
  if (breaker.state === 'open') {
    // Due to be tried: a placeholder is asked for as for any move. Before one moves, the breaker is half-open.
    if (mayProbe && probeAtMs(breaker) <= nowMs) return null;
    return held('InDrought', { sinceMs: breaker.sinceMs, nextProbeAtMs: probeAtMs(breaker) });
  }
  if (breaker.state === 'half-open') return permit.permits > 0 ? null : held('ReturnUnderWay', {});
  if (pool.kind === 'closed') return null;
  const untilMs = pool.kind === 'closing' ? pool.untilMs : null;
  return held('InDrought', { sinceMs: null, nextProbeAtMs: untilMs }, untilMs);
}

/** Half-open, or due to be tried: what comes next is whatever else the decision finds. */
function toldOf({ report, poolIsOpen }: Told, nowMs: number): Decided | null {
  if (report === null) return poolIsOpen ? held('InDrought', { sinceMs: null, nextProbeAtMs: null }) : null;
  const { sinceMs, nextProbeAtMs } = report;
  return nextProbeAtMs === null || nextProbeAtMs <= nowMs
    ? null
    : held('InDrought', { sinceMs, nextProbeAtMs });
}

/**
 * By count all is well, but some pods have no node and nothing here will get them one: the floor is not met because
 * there is no on-demand capacity, or there is no fallback. It is never repaired, so that somebody has to hear of it.
 */
export function beyondRepair(
  { policy, drought }: RebalanceSnapshot,
  members: readonly Member[],
  { numbers, replicas }: Standing,
  nowMs: number,
): Decided | null {
  const onDemand = members.filter(({ type }) => type === 'on-demand');
  const unscheduled = onDemand.filter(({ pod }) => pod.unschedulableSinceMs !== null);
  const scheduled = onDemand.filter(({ pod }) => pod.nodeName !== null).length;
  const floor = Math.min(numbers.minOnDemand, replicas);
  if (unscheduled.length > 0) {
    return held('OnDemandShort', { waiting: unscheduled.length, scheduled, floor });
  }
  return drought.kind === 'unbridgeable' ? withoutFallback(policy, members, nowMs) : null;
}

/** By count all is well, but some pods wait for spot capacity, until they are replaced. */
export function awaitingSpot(
  { policy, drought }: RebalanceSnapshot,
  { waiting, againAtMs }: Bridging,
): Decided | null {
  const stuck = waiting.filter(isStuck);
  if (stuck.length === 0) return null;
  const never = policy.kind === 'valid' && policy.fallbackAfterMs === 'never';
  const until = never ? 'spot' : drought.kind === 'unbridgeable' ? 'fault' : 'substitutes';
  return held('AwaitingSpot', { waiting: stuck.length, until }, againAtMs);
}

function withoutFallback(
  policy: RebalanceSnapshot['policy'],
  members: readonly Member[],
  nowMs: number,
): Decided | null {
  if (policy.kind !== 'valid' || policy.fallbackAfterMs === 'never') return null;
  const latestMs = nowMs - policy.fallbackAfterMs;
  const since = members
    .filter(({ type }) => type === 'spot')
    .flatMap(({ pod }) => pod.unschedulableSinceMs ?? []);
  const inVain = since.filter((sinceMs) => sinceMs <= latestMs).length;
  return inVain === 0 ? null : held('NoFallback', { waiting: inVain });
}
