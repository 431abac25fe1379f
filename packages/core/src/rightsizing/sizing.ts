import { parseDuration, parseQuantity } from '@spotalis/units';
import type { DisruptionWindow } from '../policy/policy.ts';
import { parseSchedule } from '../policy/schedule.ts';
import type { Quantity } from '../resource/amount.ts';
import { gridOf, type Grid } from './evidence/ring.ts';
import type { Percentile } from './evidence/percentile.ts';
import type { SizedResource } from './evidence/point.ts';
import type { OptimizationSpec } from './optimization-policy.ts';

export type Aggregation = OptimizationSpec['metricsConfig']['aggregation'];
export type LimitMode = 'RaiseOnly' | 'Keep' | 'Follow';

/** CPU in millicores, memory in bytes. */
export type Amounts = Readonly<Record<SizedResource, number>>;

export interface Range {
  readonly min: number;
  readonly max: number;
}

/** What becomes of limits. */
export interface LimitRules {
  readonly cpu: LimitMode;
  readonly memory: LimitMode;
  readonly multiplier: Amounts;
  /** A multiple of the template's limit. */
  readonly maxGrowth: number | null;
  readonly oom: { readonly ratio: number; readonly minBump: number; readonly keepMs: number };
  readonly canary: {
    readonly percent: number;
    readonly observeMs: number;
    readonly autoRevert: boolean;
  };
}

/** An OptimizationPolicy in numbers. */
export interface Sizing {
  readonly mode: OptimizationSpec['mode'];
  readonly provider: OptimizationSpec['metricsConfig']['provider'];
  readonly grid: Grid;
  readonly percentile: Readonly<Record<SizedResource, Percentile>>;
  readonly factor: Amounts;
  readonly floorAtPeak: boolean;
  readonly aggregation: Aggregation;
  readonly minSamples: number;
  readonly minHistoryMs: number;
  readonly startupExclusionMs: number;
  /** Null: off. */
  readonly surgeMs: number | null;
  readonly bounds: Readonly<Record<SizedResource, Range>>;
  /** Shares of what is there, and amounts, that a change has at least. */
  readonly threshold: { readonly increase: number; readonly decrease: number; readonly amount: Amounts };
  readonly stabilizationMs: number;
  /** Null: limits stay as they are. */
  readonly limits: LimitRules | null;
  readonly inPlace: boolean;
  readonly recreate: boolean;
  readonly applyTo: OptimizationSpec['updateStrategy']['applyTo'];
  readonly maxConcurrentPods: OptimizationSpec['updateStrategy']['budget']['maxConcurrentPods'];
  /** When decreases may begin. Null: always. */
  readonly window: DisruptionWindow | null;
  readonly hpa: OptimizationSpec['hpa'];
  readonly containers: OptimizationSpec['containerPolicies'];
}

const ms = (text: string): number => parseDuration(text) ?? 0;

/** Rounded up, and at least 1: a fraction of a millicore or of a byte is none. */
function amount(resource: SizedResource, written: Quantity): number {
  const units = (parseQuantity(String(written)) ?? 0) * (resource === 'cpu' ? 1000 : 1);
  return Math.ceil(Number(units.toFixed(9)));
}

const range = (resource: SizedResource, { min, max }: { min: Quantity; max: Quantity }): Range => ({
  min: amount(resource, min),
  max: amount(resource, max),
});

/** What a multiplier is where the mode is Follow and none is written. */
const usualMultiplier: Amounts = { cpu: 1, memory: 1.1 };

function limitRules({ limitConfig, rollout }: OptimizationSpec['updateStrategy']): LimitRules {
  const { mode, cpu, cpuLimitMultiplier, memoryLimitMultiplier, maxGrowth, oom } = limitConfig;
  const hasMultiplier = cpuLimitMultiplier !== undefined || memoryLimitMultiplier !== undefined;
  const usual = mode ?? (hasMultiplier ? 'Follow' : 'RaiseOnly');
  return {
    cpu: cpu ?? usual,
    memory: usual,
    multiplier: {
      cpu: cpuLimitMultiplier ?? usualMultiplier.cpu,
      memory: memoryLimitMultiplier ?? usualMultiplier.memory,
    },
    maxGrowth: maxGrowth ?? null,
    oom: { ratio: oom.bumpRatio, minBump: amount('memory', oom.minBump), keepMs: ms(oom.keep) },
    canary: {
      percent: rollout.canaryPercent,
      observeMs: ms(rollout.observe),
      autoRevert: rollout.autoRevert,
    },
  };
}

function windowOf({ schedule, duration }: OptimizationSpec['updateStrategy']): DisruptionWindow | null {
  if (schedule === undefined || duration === undefined) return null;
  const parsed = parseSchedule(schedule);
  return parsed.ok ? { schedule: parsed.value, durationMs: ms(duration) } : null;
}

export function sizingOf(spec: OptimizationSpec): Sizing {
  const { metricsConfig: metrics, updateStrategy: strategy, resourceBounds } = spec;
  const { changeThreshold: threshold } = strategy;
  return {
    mode: spec.mode,
    provider: metrics.provider,
    grid: gridOf(ms(metrics.rollingWindow), ms(metrics.resolution)),
    percentile: {
      cpu: metrics.cpu.percentile ?? metrics.percentile,
      memory: metrics.memory.percentile ?? metrics.percentile,
    },
    factor: {
      cpu: metrics.cpu.safetyFactor ?? metrics.safetyFactor,
      memory: metrics.memory.safetyFactor ?? metrics.safetyFactor,
    },
    floorAtPeak: metrics.memory.floorAtPeak,
    aggregation: metrics.aggregation,
    minSamples: metrics.minSamples,
    minHistoryMs: ms(metrics.minHistory),
    startupExclusionMs: ms(metrics.startupExclusion),
    surgeMs: metrics.surge.enabled ? ms(metrics.surge.window) : null,
    bounds: { cpu: range('cpu', resourceBounds.cpu), memory: range('memory', resourceBounds.memory) },
    threshold: {
      increase: threshold.increasePercent / 100,
      decrease: threshold.decreasePercent / 100,
      amount: { cpu: amount('cpu', threshold.cpu), memory: amount('memory', threshold.memory) },
    },
    stabilizationMs: ms(strategy.decreaseStabilization),
    limits: strategy.updateRequestsOnly ? null : limitRules(strategy),
    inPlace: strategy.allowInPlaceResize,
    recreate: strategy.allowRecreate,
    applyTo: strategy.applyTo,
    maxConcurrentPods: strategy.budget.maxConcurrentPods,
    window: windowOf(strategy),
    hpa: spec.hpa,
    containers: spec.containerPolicies,
  };
}

/** Sidecars that others inject and size. They are left alone unless a policy names them. */
const wellKnownSidecars: ReadonlySet<string> = new Set([
  'istio-proxy',
  'linkerd-proxy',
  'vault-agent',
  'cloud-sql-proxy',
  'datadog-agent',
  'envoy-sidecar',
  'consul-dataplane',
  'aws-xray-daemon',
]);

export function isSized({ containers }: Pick<Sizing, 'containers'>, container: string): boolean {
  const named = containers.find(({ name }) => name === container);
  if (named !== undefined) return named.mode === 'Auto';
  if (wellKnownSidecars.has(container)) return false;
  return containers.find(({ name }) => name === '*')?.mode !== 'Off';
}
