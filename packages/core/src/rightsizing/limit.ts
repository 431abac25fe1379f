import type { AmountReason } from './reason.ts';
import type { Sizing } from './sizing.ts';
import { isWorthIt } from './target.ts';

const HOUR_MS = 3_600_000;

/** From this share of a memory limit on, usage is near it. */
const NEAR_MEMORY = 0.9;
/** What a memory limit is by the peak. */
const PEAK_ROOM = 1.2;
const NEAR_CPU = 0.95;
const CPU_RAISE = 1.5;
const CPU_RAISE_PAUSE_MS = HOUR_MS;
/** The hold after a revert, which doubles with each, four times at most. */
const FIRST_HOLD_MS = 6 * HOUR_MS;
const MOST_DOUBLINGS = 4;

/** The floor that a container which ran out of memory leaves. */
export interface OomFloor {
  readonly limit: number;
  readonly atMs: number;
  readonly untilMs: number;
  /** Raises while a floor stood. */
  readonly count: number;
}

/** A lower memory limit that is observed. */
export interface Canary {
  readonly limit: number;
  readonly before: number;
  readonly sinceMs: number;
}

/** What is remembered of a container's limits. */
export interface LimitMemory {
  readonly oom: OomFloor | null;
  readonly canary: Canary | null;
  readonly reverts: number;
  readonly heldUntilMs: number;
  readonly cpuRaisedAtMs: number | null;
}

export const noLimitMemory: LimitMemory = {
  oom: null,
  canary: null,
  reverts: 0,
  heldUntilMs: 0,
  cpuRaisedAtMs: null,
};

export interface LimitTrace {
  /** What all pods have but for canaries; null: no limit, and none is added. */
  readonly limit: number | null;
  readonly reason: AmountReason | null;
  /** With LimitTooLow and GrowthCap, the limit that would do. */
  readonly needed: number | null;
  readonly memory: LimitMemory;
}

export interface LimitQuestion {
  /** The present limit: the target's, at first the template's. */
  readonly before: number | null;
  /** The template's. */
  readonly template: number | null;
  /** The request that it holds for. */
  readonly request: number | null;
  /** The highest memory usage of today and yesterday, and of 14 days. */
  readonly recentPeak: number;
  readonly longPeak: number;
  /** When a container last ran out of memory. */
  readonly oomAtMs: number | null;
  readonly largestNode: number | null;
  readonly cpuThirdHighest: number | null;
  /** Allocation owns the CPU limit. */
  readonly lent: boolean;
  /** A decrease may begin now: enough history, and within the schedule. */
  readonly mayLower: boolean;
  readonly remembered: LimitMemory;
}

/** No limit is above it: neither above what the author wrote nor above the bounds, whichever is more. */
export function capOf(
  resource: 'cpu' | 'memory',
  { template, largestNode }: LimitQuestion,
  { bounds, limits }: Sizing,
) {
  const written = template ?? 0;
  const growth = limits?.maxGrowth ?? null;
  return Math.min(
    Math.max(written, bounds[resource].max),
    growth === null ? Number.POSITIVE_INFINITY : Math.floor(written * growth),
    Math.max(written, largestNode ?? Number.POSITIVE_INFINITY),
  );
}

const isNewOom = ({ oomAtMs, remembered }: LimitQuestion): boolean =>
  oomAtMs !== null && oomAtMs > (remembered.oom?.atMs ?? 0);

const bumped = (limit: number, ratio: number, minBump: number): number =>
  Math.ceil(Math.max(limit * ratio, limit + minBump));

/** Without rules of its own a policy has these for what it reports. */
const usualBump = { ratio: 1.2, minBump: 100 * 2 ** 20 };

export function memoryLimitFor(question: LimitQuestion, sizing: Sizing, nowMs: number): LimitTrace {
  const { before, remembered } = question;
  const same: LimitTrace = { limit: before, reason: null, needed: null, memory: remembered };
  if (before === null) return same;
  const rules = sizing.limits;
  if (rules === null || rules.memory === 'Keep') {
    if (!isNewOom(question)) return same;
    const { ratio, minBump } = rules?.oom ?? usualBump;
    return { ...same, reason: 'LimitTooLow', needed: bumped(before, ratio, minBump) };
  }
  const revert = reverted(question, sizing, nowMs);
  if (revert !== null) return revert;
  const raise = raised(question, sizing, nowMs);
  if (rules.memory !== 'Follow') return raise ?? same;
  if (raise === null) return follow(question, sizing, nowMs);
  return {
    ...raise,
    limit: Math.max(raise.limit ?? 0, followedLimit(question, raise.memory, sizing, nowMs)),
  };
}

/** The multiple of the request, above the long peak and what an OOM left, and never above the cap. */
function followedLimit(question: LimitQuestion, { oom }: LimitMemory, sizing: Sizing, nowMs: number): number {
  const { longPeak } = question;
  const request = question.request ?? 0;
  const wanted = Math.max(
    Math.ceil(request * (sizing.limits?.multiplier.memory ?? 1)),
    Math.ceil(longPeak * PEAK_ROOM),
    oom !== null && oom.untilMs > nowMs ? oom.limit : 0,
  );
  return Math.max(request, Math.min(wanted, capOf('memory', question, sizing)));
}

/** An OOM while a lower limit is observed gives the old one back. */
function reverted(question: LimitQuestion, { limits }: Sizing, nowMs: number): LimitTrace | null {
  const { remembered, oomAtMs } = question;
  const { canary, reverts } = remembered;
  if (canary === null || limits?.canary.autoRevert !== true || !isNewOom(question)) return null;
  if (oomAtMs === null || oomAtMs < canary.sinceMs || oomAtMs > canary.sinceMs + limits.canary.observeMs)
    return null;
  const heldUntilMs = nowMs + FIRST_HOLD_MS * 2 ** Math.min(reverts, MOST_DOUBLINGS);
  const oom = floorAt(canary.before, oomAtMs, question, limits.oom.keepMs);
  return {
    limit: canary.before,
    reason: 'LimitReverted',
    needed: null,
    memory: { ...remembered, canary: null, reverts: reverts + 1, heldUntilMs, oom },
  };
}

function floorAt(limit: number, atMs: number, { remembered }: LimitQuestion, keepMs: number): OomFloor {
  const { oom } = remembered;
  const stands = oom !== null && oom.untilMs > atMs;
  return { limit, atMs, untilMs: atMs + keepMs, count: stands ? oom.count + 1 : 1 };
}

/** After an OOM, or where the peak comes near to the limit. */
function raised(question: LimitQuestion, sizing: Sizing, nowMs: number): LimitTrace | null {
  const { before, recentPeak, oomAtMs, remembered } = question;
  const { limits } = sizing;
  if (before === null || limits === null) return null;
  const isOom = isNewOom(question);
  const isNear = recentPeak > before * NEAR_MEMORY;
  if (!isOom && !isNear) return null;
  const { ratio, minBump, keepMs } = limits.oom;
  const byOom = isOom ? bumped(before, ratio, minBump) : before;
  const byPeak = isNear ? Math.ceil(recentPeak * PEAK_ROOM) : before;
  const wanted = Math.max(byOom, byPeak);
  const limit = Math.max(before, Math.min(wanted, capOf('memory', question, sizing)));
  const atMs = isOom && oomAtMs !== null ? oomAtMs : nowMs;
  // At the cap nothing is raised any more, so nothing is counted but the OOM itself.
  const oom = isOom || limit > before ? floorAt(limit, atMs, question, keepMs) : remembered.oom;
  return {
    limit,
    reason: limit < wanted ? 'GrowthCap' : isOom ? 'OutOfMemory' : 'LimitRaised',
    needed: limit < wanted ? wanted : null,
    memory: { ...remembered, oom, canary: limit > before ? null : remembered.canary },
  };
}

function follow(question: LimitQuestion, sizing: Sizing, nowMs: number): LimitTrace {
  const { before, request, mayLower, remembered } = question;
  const { limits } = sizing;
  const same: LimitTrace = { limit: before, reason: null, needed: null, memory: remembered };
  if (before === null || limits === null || request === null) return same;
  const { canary, heldUntilMs } = remembered;
  const ended = canary !== null && nowMs - canary.sinceMs >= limits.canary.observeMs;
  if (canary !== null)
    return ended
      ? { limit: canary.limit, reason: 'LimitFollows', needed: null, memory: { ...remembered, canary: null } }
      : same;
  const limit = followedLimit(question, remembered, sizing, nowMs);
  if (!isWorthIt('memory', before, limit, sizing) && before >= request) return same;
  if (limit > before) return { limit, reason: 'LimitFollows', needed: null, memory: remembered };
  if (heldUntilMs > nowMs) return { ...same, reason: 'LimitHeld' };
  if (!mayLower) return same;
  const started: Canary = { limit, before, sinceMs: nowMs };
  // With 100 % all pods are canaries, and the new ones as well.
  const isAll = limits.canary.percent >= 100;
  return {
    limit: isAll ? limit : before,
    reason: 'LimitFollows',
    needed: null,
    memory: { ...remembered, canary: started },
  };
}

export function cpuLimitFor(question: LimitQuestion, sizing: Sizing, nowMs: number): LimitTrace {
  const { before, request, lent, cpuThirdHighest, mayLower, remembered } = question;
  const same: LimitTrace = { limit: before, reason: null, needed: null, memory: remembered };
  const { limits } = sizing;
  if (before === null || limits === null || limits.cpu === 'Keep') return same;
  if (lent) return { ...same, reason: 'LimitOwnedByAllocation' };
  const cap = capOf('cpu', question, sizing);
  if (limits.cpu === 'Follow') {
    if (request === null) return same;
    const limit = Math.max(request, Math.min(Math.ceil(request * limits.multiplier.cpu), cap));
    const isDue = before < request || isWorthIt('cpu', before, limit, sizing);
    if (!isDue || (limit < before && !mayLower)) return same;
    return { ...same, limit, reason: 'LimitFollows' };
  }
  const isPaused = remembered.cpuRaisedAtMs !== null && nowMs - remembered.cpuRaisedAtMs < CPU_RAISE_PAUSE_MS;
  if (isPaused || (cpuThirdHighest ?? 0) < before * NEAR_CPU) return same;
  const limit = Math.max(before, Math.min(Math.ceil(before * CPU_RAISE), cap));
  if (limit === before) return { ...same, reason: 'GrowthCap', needed: Math.ceil(before * CPU_RAISE) };
  return { ...same, limit, reason: 'LimitRaised', memory: { ...remembered, cpuRaisedAtMs: nowMs } };
}

/** A limit that was raised this often while a floor stood is that of a leak, or of a need nobody foresaw. */
const SUSPICIOUS_RAISES = 3;

export const isGrowthSuspected = ({ oom }: LimitMemory, nowMs: number): boolean =>
  oom !== null && oom.untilMs > nowMs && oom.count >= SUSPICIOUS_RAISES;
