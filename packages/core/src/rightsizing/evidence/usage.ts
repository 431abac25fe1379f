import type { Aggregation } from '../sizing.ts';
import { percentileOf, type Percentile, shares } from './percentile.ts';
import { pointAt, type Ring } from './ring.ts';

export type Percentiles = Readonly<Record<Percentile, number>>;

/**
 * What is known of a container's usage, in millicores and bytes. A provider that gives percentiles only leaves the rest
 * null, and the guards that need it do not act.
 */
export interface ContainerUsage {
  readonly cpu: Percentiles;
  readonly memory: Percentiles;
  /** Minutes covered by points, or the provider's own number. */
  readonly samples: number;
  /** How long usage is known without a long gap. */
  readonly spanMs: number | null;
  /** The newest usage that counts. */
  readonly atMs: number;
  /** The highest memory of the window. */
  readonly memoryPeak: number | null;
  /** The newest memory point. */
  readonly memoryNow: number | null;
  /** P90 of CPU over the surge window. */
  readonly surge: number | null;
  /** The third highest point of CPU: demand that meets its limit shows as several points near it. */
  readonly cpuThirdHighest: number | null;
}

export interface ContainerRings {
  readonly cpu: Ring;
  readonly memory: Ring;
}

/** Usage is stale when nothing came for two points. */
const STALE_POINTS = 2;

const percentilesOf = (ascending: ArrayLike<number>): Percentiles => ({
  P50: percentileOf(ascending, shares.P50),
  P90: percentileOf(ascending, shares.P90),
  P99: percentileOf(ascending, shares.P99),
});

/**
 * The usage over the window that ends now. Several rings are pooled: all points of all of them count. Null where the
 * newest point is too old, or there is none.
 */
export function usageOf(
  rings: readonly ContainerRings[],
  surgeMs: number | null,
  nowMs: number,
): ContainerUsage | null {
  const [first] = rings;
  if (first === undefined) return null;
  const { grid } = first.cpu;
  const point = pointAt(grid, nowMs);
  const cpu = pooled(rings.map((each) => each.cpu.ascending(point)));
  const memory = pooled(rings.map((each) => each.memory.ascending(point)));
  const atMs = Math.min(newest(rings.map((each) => each.cpu)), newest(rings.map((each) => each.memory)));
  if (cpu.length === 0 || memory.length === 0 || nowMs - atMs > STALE_POINTS * grid.pointMs) return null;
  const sinceMs = oldest(rings.flatMap((each) => [each.cpu, each.memory]));
  const covered = Math.max(
    ...rings.map((each) => Math.min(each.cpu.ascending(point).length, each.memory.ascending(point).length)),
  );
  return {
    cpu: percentilesOf(cpu),
    memory: percentilesOf(memory),
    samples: Math.floor((covered * grid.pointMs) / 60_000),
    spanMs: atMs - sinceMs,
    atMs,
    memoryPeak: memory.at(-1) ?? null,
    memoryNow: pooled(rings.map((each) => each.memory.ascending(each.memory.latest ?? -1, 1))).at(-1) ?? null,
    surge: surgeMs === null ? null : surgeOf(rings, point, surgeMs),
    cpuThirdHighest: cpu.at(-3) ?? null,
  };
}

function surgeOf(rings: readonly ContainerRings[], point: number, surgeMs: number): number | null {
  const recent = pooled(
    rings.map(({ cpu }) => cpu.ascending(point, Math.max(1, Math.round(surgeMs / cpu.grid.pointMs)))),
  );
  return recent.length === 0 ? null : percentileOf(recent, shares.P90);
}

const newest = (rings: readonly Ring[]): number => Math.max(...rings.map(({ latestMs }) => latestMs ?? 0));

/** Of several pods the one that is known longest, of its resources the one that is known less long. */
const oldest = (rings: readonly Ring[]): number => {
  const since = (resource: Ring['resource']) =>
    Math.min(
      ...rings
        .filter((ring) => ring.resource === resource)
        .map(({ historySinceMs }) => historySinceMs ?? Number.POSITIVE_INFINITY),
    );
  return Math.max(since('cpu'), since('memory'));
};

function pooled(sets: readonly Float64Array[]): Float64Array {
  if (sets.length === 1 && sets[0] !== undefined) return sets[0];
  const all = new Float64Array(sets.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const set of sets) {
    all.set(set, at);
    at += set.length;
  }
  return all.toSorted();
}

/** What Auto stands for. Pods of a StatefulSet or a DaemonSet keep their name or node, so each has a history. */
export function aggregationFor(aggregation: Aggregation, kind: string): Exclude<Aggregation, 'Auto'> {
  if (aggregation !== 'Auto') return aggregation;
  return kind === 'Deployment' ? 'Max' : 'PerPod';
}

/** Below this a pod's own history says less than that of all. */
const OWN_HISTORY_MS = 24 * 3_600_000;

/**
 * With PerPod, the usage that a pod is sized by: the larger of its own and the highest of its last seven days, so that a
 * leader that moves away and back is covered. Null while its own history is short.
 */
export function ownUsage(
  own: ContainerUsage | null,
  daily: { readonly cpu: readonly number[]; readonly memory: readonly number[] },
  percentile: { readonly cpu: Percentile; readonly memory: Percentile },
): ContainerUsage | null {
  if (own === null || own.spanMs === null || own.spanMs < OWN_HISTORY_MS) return null;
  const raised = (of: 'cpu' | 'memory'): Percentiles => ({
    ...own[of],
    [percentile[of]]: Math.max(own[of][percentile[of]], ...daily[of].slice(0, 7)),
  });
  return { ...own, cpu: raised('cpu'), memory: raised('memory') };
}
