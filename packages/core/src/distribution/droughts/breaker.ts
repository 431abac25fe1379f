/**
 * Whether a workload's pods may be sent to spot. Times are of the controller's clock.
 *
 * - `closed`: no drought.
 * - `open`: admissions get substitutes on on-demand, until something says that there may be capacity again.
 * - `half-open`: one admission at a time is let through to spot, and substitutes are moved back one by one.
 */
export type Breaker =
  | { readonly state: 'closed' }
  | {
      readonly state: 'open';
      /** Since when the first pod waited for spot capacity in vain. */
      readonly sinceMs: number;
      readonly openedAtMs: number;
      /** So long after opening it is tried again. */
      readonly backoffMs: number;
      /** Room on a node is trusted before that: there was none when it opened, and nothing has failed since. */
      readonly early: boolean;
    }
  | {
      readonly state: 'half-open';
      readonly sinceMs: number;
      readonly probedAtMs: number;
      readonly backoffMs: number;
      /** There was room, or a pod got a node: it is over when no substitute is left. */
      readonly proven: boolean;
    };

/**
 * How many admissions may still go to spot, and when the last one that could was used. Only while half-open, and of
 * this attempt: the ledger forgets the last one with each change of the state.
 */
export interface Permit {
  readonly permits: number;
  readonly takenAtMs: number | null;
}

export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** What is to be seen of a workload, as far as it tells about spot capacity. */
export interface DroughtLook {
  /** `spot-fallback-after`. */
  readonly fallbackAfterMs: number | 'never';
  /** Since when the pod that has waited longest for spot capacity has done so; null when none does. */
  readonly waitingSinceMs: number | null;
  /** Spot pods that may yet get a node. Those that a volume or a scheduling gate holds tell nothing about capacity. */
  readonly pending: number;
  /** Some of them wait in vain, and nothing may be done about it now. */
  readonly isHeld: boolean;
  /** When the youngest spot pod that got a node was created. */
  readonly scheduledAtMs: number | null;
  /** A spot pod of the workload would get a node now. */
  readonly room: boolean;
  /** What a placeholder, started to find out, has shown; `none`: there will be none. */
  readonly placeholder: 'none' | 'waiting' | 'failed' | 'running';
  /** How many spot pods are missing by the policy: at most so many substitutes are to be moved back. */
  readonly lacking: number;
  /** Since when the oldest substitute is there; null when there is none, or when they tell of no drought. */
  readonly substitutesSinceMs: number | null;
  /** Others have found out already that there is no capacity, so that waiting would tell nothing new. */
  readonly known: boolean;
  /** Admissions hold the whole placement to be without capacity, some perhaps still: only a permit goes through. */
  readonly permitOnly: boolean;
  /** Workloads of one placement take turns. */
  readonly mayProbe: boolean;
}

export type BreakerChange =
  | 'opened'
  /** The attempt failed. */
  | 'reopened'
  /** Not even the placeholder got a node. */
  | 'postponed'
  | 'half-opened'
  /** One more admission may go to spot. */
  | 'armed'
  | 'proven'
  | 'closed'
  /** Nothing is lacking any more; whether there is capacity is for others of the placement to find out. */
  | 'left'
  /** Nobody wants substitutes any more. */
  | 'waived'
  /** The ledger had lost it; the substitutes tell. */
  | 'rebuilt';

export interface Step {
  readonly breaker: Breaker;
  readonly permits: number;
  /** Null: nothing is to be written. */
  readonly change: BreakerChange | null;
  /** When time alone would change something. */
  readonly againAtMs: number | null;
}

/** A permit is given again after so many waiting periods, whatever became of the pod that used it. */
const REARM_PERIODS = 1.5;
/** For those who do not want to wait at all. */
const SHORTEST_REARM_MS = 1_000;
/** A creation time has whole seconds, and the ledger's clock is not the API server's. */
const CLOCKS_DIFFER_MS = 2_000;

/** The next state, from this one and one look. Total, and it settles: a second step of the same look changes nothing. */
export function stepBreaker(
  breaker: Breaker,
  permit: Permit,
  look: DroughtLook,
  backoff: Backoff,
  nowMs: number,
): Step {
  const { fallbackAfterMs } = look;
  if (fallbackAfterMs === 'never') {
    return breaker.state === 'closed' ? still(breaker, null) : step({ state: 'closed' }, 'waived');
  }
  switch (breaker.state) {
    case 'closed':
      return fromClosed(breaker, look, fallbackAfterMs, backoff, nowMs);
    case 'open':
      return fromOpen(breaker, look, backoff, nowMs);
    case 'half-open':
      return fromHalfOpen(breaker, permit, look, fallbackAfterMs, backoff, nowMs);
    default:
      return breaker satisfies never;
  }
}

function fromClosed(
  breaker: Breaker,
  look: DroughtLook,
  fallbackAfterMs: number,
  { initialMs }: Backoff,
  nowMs: number,
): Step {
  const { waitingSinceMs, known, permitOnly, room, lacking, substitutesSinceMs } = look;
  const open = (sinceMs: number): Breaker => ({
    state: 'open',
    sinceMs,
    openedAtMs: nowMs,
    backoffMs: initialMs,
    early: !room,
  });
  if (waitingSinceMs !== null) {
    const opensAtMs = known ? nowMs : waitingSinceMs + fallbackAfterMs;
    return opensAtMs <= nowMs ? step(open(waitingSinceMs), 'opened') : still(breaker, opensAtMs);
  }
  if (lacking === 0) return still(breaker, null);
  if (permitOnly && room) return step(halfOpen(nowMs, initialMs, nowMs, true), 'half-opened', 1);
  return substitutesSinceMs === null || known
    ? still(breaker, null)
    : room
      ? still(breaker, null)
      : step(open(substitutesSinceMs), 'rebuilt');
}

type Open = Extract<Breaker, { state: 'open' }>;
type HalfOpen = Extract<Breaker, { state: 'half-open' }>;

function fromOpen(breaker: Open, look: DroughtLook, backoff: Backoff, nowMs: number): Step {
  const { sinceMs, backoffMs, early } = breaker;
  const dueAtMs = probeAtMs(breaker);
  // Pods that still wait are removed first; otherwise the attempt would fail by them.
  if (look.waitingSinceMs !== null) return still(breaker, null);
  const evidence = look.room || look.placeholder === 'running';
  const next = halfOpen(sinceMs, backoffMs, nowMs, evidence);
  if (evidence && (early || dueAtMs <= nowMs)) return step(next, 'half-opened', 1);
  if (dueAtMs > nowMs) return still(breaker, dueAtMs);
  // Who lacks nothing of a placement without capacity could not show that there is some again: it leaves the drought.
  if (look.permitOnly && look.lacking === 0 && look.pending === 0) return step({ state: 'closed' }, 'left');
  if (!look.mayProbe) return still(breaker, null);
  if (look.placeholder === 'none') return step(next, 'half-opened', 1);
  // How long an autoscaler may take is the placeholder's own matter.
  if (look.placeholder === 'waiting') return still(breaker, null);
  return step({ ...breaker, openedAtMs: nowMs, backoffMs: longer(backoffMs, backoff) }, 'postponed');
}

function fromHalfOpen(
  breaker: HalfOpen,
  { permits, takenAtMs }: Permit,
  look: DroughtLook,
  fallbackAfterMs: number,
  backoff: Backoff,
  nowMs: number,
): Step {
  const { waitingSinceMs, pending, lacking, scheduledAtMs } = look;
  if (waitingSinceMs !== null) {
    const failsAtMs = waitingSinceMs + fallbackAfterMs;
    if (failsAtMs > nowMs) return still(breaker, failsAtMs, permits);
    const { sinceMs, backoffMs } = breaker;
    const next = longer(backoffMs, backoff);
    return step({ state: 'open', sinceMs, openedAtMs: nowMs, backoffMs: next, early: false }, 'reopened');
  }
  const rearmAtMs =
    (takenAtMs ?? breaker.probedAtMs) + Math.max(SHORTEST_REARM_MS, REARM_PERIODS * fallbackAfterMs);
  if (pending > 0 && look.isHeld) return still(breaker, null, permits);
  if (pending > 0 && rearmAtMs > nowMs) return still(breaker, rearmAtMs, permits);
  const evidence = look.room || look.placeholder === 'running';
  const arrived =
    takenAtMs !== null && scheduledAtMs !== null && scheduledAtMs >= takenAtMs - CLOCKS_DIFFER_MS;
  const proven = breaker.proven || evidence || arrived;
  if (proven && lacking === 0) return step({ state: 'closed' }, 'closed');
  if (permits === 0) {
    if (evidence || arrived || rearmAtMs <= nowMs) return step({ ...breaker, proven }, 'armed', 1);
    return still(breaker, rearmAtMs);
  }
  return proven && !breaker.proven
    ? step({ ...breaker, proven }, 'proven', permits)
    : still(breaker, null, permits);
}

/** When an open breaker is tried even without a sign of capacity. */
export const probeAtMs = ({ openedAtMs, backoffMs }: Open): number => openedAtMs + backoffMs;

const longer = (backoffMs: number, { initialMs, maxMs }: Backoff): number =>
  Math.max(initialMs, Math.min(maxMs, backoffMs * 2));

const halfOpen = (sinceMs: number, backoffMs: number, nowMs: number, proven: boolean): Breaker => ({
  state: 'half-open',
  sinceMs,
  probedAtMs: nowMs,
  backoffMs,
  proven,
});

const step = (breaker: Breaker, change: BreakerChange, permits = 0): Step => ({
  breaker,
  permits,
  change,
  againAtMs: null,
});

const still = (breaker: Breaker, againAtMs: number | null, permits = 0): Step => ({
  breaker,
  permits,
  change: null,
  againAtMs,
});
