import { isOpen } from '../disruption/window.ts';
import type { LimitRangeItem } from '../resize/bounds.ts';
import type { ContainerUsage } from './evidence/usage.ts';
import type { SizedResource } from './evidence/point.ts';
import type { AmountReason } from './reason.ts';
import { clampTo, recommend, type Recommendation } from './recommend.ts';
import type { Sizing } from './sizing.ts';
import { highestRecent, type RecentAmounts } from './stabilization.ts';

/** A guard that moved an amount. */
export interface Guarded {
  readonly reason: AmountReason;
  readonly from: number;
  readonly to: number;
}

/** How a request comes about. */
export interface RequestTrace {
  /** Null where nothing is known. */
  readonly recommendation: Recommendation | null;
  /** In the order in which they acted. */
  readonly guards: readonly Guarded[];
  /** What the request was before. Null: the container has none. */
  readonly before: number | null;
  /** What it would be without the threshold and what else holds it; null where nothing is computed. */
  readonly wanted: number | null;
  readonly target: number | null;
  readonly reason: AmountReason;
}

/** What a request depends on beside the policy. */
export interface RequestQuestion {
  readonly resource: SizedResource;
  /** The present target; at first what the template has. Null: none, and none is added. */
  readonly before: number | null;
  readonly usage: ContainerUsage | null;
  /** The highest memory usage of today and yesterday; 0 where nothing is known. */
  readonly recentPeak: number;
  /** The memory usage at an eviction that still counts. */
  readonly evictionFloor: number | null;
  /** An autoscaler that a request of another size would mislead, or that writes it. */
  readonly autoscaler: 'HPAOnCPU' | 'HPAOnMemory' | 'ManagedByVpa' | null;
  readonly limitRanges: readonly LimitRangeItem[];
  /** What the largest node has for one container; null where it is not known. */
  readonly largestNode: number | null;
  /** The limit that will hold; null: none. */
  readonly limit: number | null;
  /** Since when the requests of the template are what they are; null: for longer than anything counts. */
  readonly templateSinceMs: number | null;
  readonly recent: RecentAmounts | null;
}

const kept = (
  before: number | null,
  reason: AmountReason,
  recommendation: Recommendation | null = null,
): RequestTrace => ({ recommendation, guards: [], before, wanted: null, target: before, reason });

/** The request of one resource of one container. Total: what nothing is known of stays as it is. */
export function requestFor(question: RequestQuestion, sizing: Sizing, nowMs: number): RequestTrace {
  const { resource, before, usage, autoscaler } = question;
  if (usage === null) return kept(before, 'MissingMetrics');
  const recommendation = recommend(resource, usage, sizing);
  if (!Number.isFinite(recommendation.raw)) return kept(before, 'MissingMetrics');
  if (before === null) return kept(before, 'NoRequest', recommendation);
  if (usage.samples < sizing.minSamples) return kept(before, 'InsufficientData', recommendation);
  if (autoscaler !== null) return kept(before, autoscaler, recommendation);
  const guards = guardsOn(recommendation, before, usage, question, sizing);
  const wanted = guards.at(-1)?.to ?? recommendation.amount;
  const { target, reason } = step(wanted, before, guards, usage, question, sizing, nowMs);
  return { recommendation, guards, before, wanted, target, reason };
}

/** Each guard that moves the amount, in order. The policy's bounds come after all that raise it. */
function guardsOn(
  { raw, amount }: Recommendation,
  before: number,
  usage: ContainerUsage,
  { resource, recentPeak, evictionFloor, limitRanges, largestNode, limit }: RequestQuestion,
  { bounds, floorAtPeak }: Sizing,
): readonly Guarded[] {
  const guards: Guarded[] = [];
  let now = raw;
  const move = (reason: AmountReason, to: number) => {
    if (to === now) return;
    guards.push({ reason, from: now, to });
    now = to;
  };
  move('PolicyBounds', amount);
  if (resource === 'cpu') move('Surge', Math.max(now, Math.ceil(usage.surge ?? 0)));
  if (resource === 'memory') {
    const windowPeak = Math.ceil(usage.memoryPeak ?? 0);
    if (floorAtPeak) move('FlooredAtPeak', Math.max(now, windowPeak));
    move('EvictionFloor', Math.max(now, evictionFloor ?? 0));
    const peak = Math.max(windowPeak, recentPeak);
    if (now < before) move('HeldAtPeak', Math.max(now, Math.min(before, peak)));
  }
  move('PolicyBounds', clampTo(bounds[resource], now));
  for (const { type, min, max } of limitRanges) {
    if (type !== 'Container') continue;
    move(
      'LimitRangeBounds',
      Math.min(Math.max(now, min[resource] ?? 0), max[resource] ?? Number.POSITIVE_INFINITY),
    );
  }
  move('LargestNode', Math.min(now, largestNode ?? now));
  move('BelowLimit', Math.min(now, limit ?? now));
  return guards;
}

/** Whether a change is large enough, by its share and by its amount. */
export function isWorthIt(
  resource: SizedResource,
  before: number,
  wanted: number,
  { threshold }: Pick<Sizing, 'threshold'>,
): boolean {
  if (Math.abs(wanted - before) < threshold.amount[resource] || wanted === before) return false;
  return wanted > before
    ? wanted >= before * (1 + threshold.increase)
    : wanted <= before * (1 - threshold.decrease);
}

interface Stepped {
  readonly target: number;
  readonly reason: AmountReason;
}

function step(
  wanted: number,
  before: number,
  guards: readonly Guarded[],
  usage: ContainerUsage,
  question: RequestQuestion,
  sizing: Sizing,
  nowMs: number,
): Stepped {
  const { resource, limit } = question;
  // A limit below the present request leaves no choice.
  if (limit !== null && before > limit) return { target: wanted, reason: 'BelowLimit' };
  if (!isWorthIt(resource, before, wanted, sizing)) {
    const guard = guards.findLast(({ reason }) => reason !== 'PolicyBounds');
    const isGuarded = guard !== undefined && isWorthIt(resource, before, guard.from, sizing);
    return { target: before, reason: isGuarded ? guard.reason : 'WithinThreshold' };
  }
  if (wanted > before) return { target: wanted, reason: 'Increased' };
  return decrease(wanted, before, usage, question, sizing, nowMs);
}

/** Little evidence may raise a request, and never lowers it. */
function decrease(
  wanted: number,
  before: number,
  { spanMs }: ContainerUsage,
  { resource, templateSinceMs, recent }: RequestQuestion,
  sizing: Sizing,
  nowMs: number,
): Stepped {
  const { minHistoryMs, stabilizationMs, window } = sizing;
  const isShort = spanMs !== null && spanMs < minHistoryMs;
  const isNewTemplate = templateSinceMs !== null && nowMs - templateSinceMs < minHistoryMs;
  if (isShort || isNewTemplate) return { target: before, reason: 'LowHistory' };
  if (window !== null && !isOpen(window, nowMs)) return { target: before, reason: 'ScheduleClosed' };
  if (stabilizationMs === 0) return { target: wanted, reason: 'Decreased' };
  const highest = highestRecent(recent, stabilizationMs, nowMs);
  const target = highest === null ? before : Math.max(wanted, highest);
  return target < before && isWorthIt(resource, before, target, sizing)
    ? { target, reason: 'Decreased' }
    : { target: before, reason: 'Stabilizing' };
}
