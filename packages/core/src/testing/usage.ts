import * as fc from 'fast-check';
import type { ContainerUsage } from '../rightsizing/evidence/usage.ts';
import type { Sizing } from '../rightsizing/sizing.ts';
import { sizingOf } from '../rightsizing/sizing.ts';
import { apiVersion } from '../resource/definition.ts';
import { readSpec } from '../resource/parse.ts';
import { optimizationPolicy } from '../rightsizing/optimization-policy.ts';

export const HOUR_MS = 3_600_000;
export const MiB = 2 ** 20;
/** A time of some day in 2026, at noon. */
export const NOON_MS = Date.UTC(2026, 5, 10, 12);

const least = {
  mode: 'Auto',
  selector: { workloadSelector: {} },
  resourceBounds: { cpu: { min: '50m', max: '4' }, memory: { min: '64Mi', max: '8Gi' } },
};

/** The numbers of a policy with these fields, and else the defaults. */
export function sizingWith(spec: object = {}): Sizing {
  const object = { apiVersion, kind: optimizationPolicy.kind, metadata: {}, spec: { ...least, ...spec } };
  const { value, problems } = readSpec(optimizationPolicy, object);
  if (value === null) throw new Error(problems.map(({ message }) => message).join('; '));
  return sizingOf(value);
}

export const usageWith = (more: Partial<ContainerUsage> = {}): ContainerUsage => ({
  cpu: { P50: 200, P90: 400, P99: 500 },
  memory: { P50: 200 * MiB, P90: 300 * MiB, P99: 350 * MiB },
  samples: 1440,
  spanMs: 48 * HOUR_MS,
  atMs: NOON_MS,
  memoryPeak: 400 * MiB,
  memoryNow: 300 * MiB,
  surge: null,
  cpuThirdHighest: 450,
  ...more,
});

const ascending = (most: number) =>
  fc
    .tuple(fc.nat(most), fc.nat(most), fc.nat(most))
    .map((amounts) => amounts.toSorted((one, other) => one - other))
    .map(([P50 = 0, P90 = 0, P99 = 0]) => ({ P50, P90, P99 }));

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

export const usages: fc.Arbitrary<ContainerUsage> = fc.record({
  cpu: ascending(8000),
  memory: ascending(12_000 * MiB),
  samples: fc.nat(2000),
  spanMs: maybe(fc.nat(72).map((hours) => hours * HOUR_MS)),
  atMs: fc.constant(NOON_MS),
  memoryPeak: maybe(fc.nat(14_000 * MiB)),
  memoryNow: maybe(fc.nat(12_000 * MiB)),
  surge: maybe(fc.nat(8000)),
  cpuThirdHighest: maybe(fc.nat(8000)),
});

const bound = (unit: string, most: number) =>
  fc.tuple(fc.integer({ min: 1, max: most }), fc.nat(most)).map(([min, more]) => ({
    min: `${min}${unit}`,
    max: `${min + more}${unit}`,
  }));

const limitConfigs = fc.record(
  {
    mode: fc.constantFrom('RaiseOnly', 'Keep', 'Follow'),
    maxGrowth: fc.integer({ min: 1, max: 4 }),
    memoryLimitMultiplier: fc.integer({ min: 1, max: 3 }),
  },
  { requiredKeys: [] },
);

/** Policies with any percentile, factor, bounds, guards and limits. */
export const sizings: fc.Arbitrary<Sizing> = fc
  .record({
    metricsConfig: fc.record({
      percentile: fc.constantFrom('P50', 'P90', 'P99'),
      safetyFactor: fc.integer({ min: 20, max: 60 }).map((twentieths) => twentieths / 20),
      memory: fc.record({ floorAtPeak: fc.boolean() }),
      surge: fc.record({ enabled: fc.boolean() }),
      minHistory: fc.constantFrom('0s', '24h'),
    }),
    resourceBounds: fc.record({ cpu: bound('m', 4000), memory: bound('Mi', 6000) }),
    updateStrategy: fc.record({
      updateRequestsOnly: fc.boolean(),
      decreaseStabilization: fc.constantFrom('3h', '6h'),
      limitConfig: limitConfigs,
    }),
  })
  .map(sizingWith);
