import type { Milliseconds } from '@spotalis/units';
import type { UsageReading } from './reading.ts';

/** One container of one pod. */
export interface ContainerName {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** CPU: the mean over the point, in millicores. Memory: the highest working set of the point, in bytes. */
export interface UsagePoint {
  /** Wall clock, when the point is over. */
  readonly endMs: number;
  readonly value: number;
}

/** Either resource may lack points that the other has. Points are in the order of time. */
export interface ContainerUsage extends ContainerName {
  readonly cpu: readonly UsagePoint[];
  readonly memory: readonly UsagePoint[];
}

/** Points of one length that end after `fromMs` and not after `toMs`. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly resolutionMs: Milliseconds;
}

/** Who controlled a pod. */
export interface PodOwner {
  readonly pod: string;
  readonly kind: string;
  readonly name: string;
}

/** What a source has kept of one namespace. */
export interface Past {
  readonly usage: readonly ContainerUsage[];
  /** As far as the source knows them: of pods that are gone nobody else does. */
  readonly owners: readonly PodOwner[];
}

/**
 * Measures containers, point by point. No call throws or rejects. A call that fails gives no point at all: half of an
 * answer may lack the hottest pod, and what is sized by it would be too small.
 *
 * A provider knows nothing of workloads. It may measure pods that are terminating or belong to nobody; the caller drops
 * those.
 */
export interface PointProvider {
  readonly gives: 'points';
  readonly name: string;
  /** How long after its end a point can be asked for. */
  readonly settleMs: Milliseconds;
  /** The caller calls this once a minute. A provider whose source keeps a record has nothing to do. */
  sample(atMs: number): Promise<UsageReading<null>>;
  /** Nothing where the source keeps no record. */
  past(namespace: string, span: Span): Promise<UsageReading<Past>>;
  /** The one point that ends at `endMs`, of every container. */
  latest(endMs: number, resolutionMs: Milliseconds): Promise<UsageReading<readonly ContainerUsage[]>>;
  close(): Promise<void>;
}

/** In the unit of the resource: millicores, bytes. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

export interface ContainerStatistics extends ContainerName {
  readonly cpu: Percentiles;
  readonly memory: Percentiles;
  readonly samples: number;
  /** Over which time the source has measured; null where it does not say. */
  readonly spanMs: Milliseconds | null;
  /** Bytes; null where it does not say. */
  readonly memoryPeak: number | null;
}

/** Gives percentiles of a window instead of points. No call throws or rejects. */
export interface StatisticsProvider {
  readonly gives: 'statistics';
  readonly name: string;
  /** One reading for each container, in the order asked; null: the source does not know the container. */
  read(
    containers: readonly ContainerName[],
    windowMs: Milliseconds,
  ): Promise<readonly UsageReading<ContainerStatistics | null>[]>;
  close(): Promise<void>;
}
