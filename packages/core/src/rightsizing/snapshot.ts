import type { Resources } from '../cluster/resources.ts';
import type { Size } from '../cluster/size.ts';
import type { LimitRangeItem } from '../resize/bounds.ts';
import type { ResizablePod } from '../resize/resizable-pod.ts';
import type { SizedResource } from './evidence/point.ts';
import type { ContainerUsage } from './evidence/usage.ts';
import type { ContainerMemory } from './memory.ts';
import type { Selectable } from './selection.ts';
import type { Sizing } from './sizing.ts';
import type { RecentAmounts } from './stabilization.ts';

export interface SizedWorkload extends Pick<Selectable, 'kind' | 'namespace'> {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly deleting: boolean;
  /** `spotalis.io/rightsizing-paused` is set. */
  readonly paused: boolean;
}

/** A container of the template, after the defaults of the API server and of the LimitRanges. */
export interface TemplateContainer {
  readonly name: string;
  readonly kind: 'container' | 'sidecar' | 'init';
  readonly size: Size;
}

export interface SizedPod {
  readonly pod: ResizablePod;
  /** With PerPod, its own usage by container, where its own history is long enough. */
  readonly own: ReadonlyMap<string, ContainerUsage>;
  /** What it would have requested lately by its own usage, where decreases are stabilized. */
  readonly recent: ReadonlyMap<string, Readonly<Record<SizedResource, RecentAmounts | null>>>;
  /** The API server said that its node cannot resize. */
  readonly refused: boolean;
  /** Containers that run after they ran out of memory at their present limit. */
  readonly outOfMemory: ReadonlySet<string>;
}

/** What happened to the containers of one name. */
export interface Incidents {
  readonly oomAtMs: number | null;
  /** An eviction for want of memory, and what the container used then. */
  readonly evicted: { readonly atMs: number; readonly memory: number } | null;
}

export type ActingPolicy =
  | {
      readonly kind: 'none';
      readonly reason: 'InvalidPolicy' | 'ForeignNamespace' | 'OutOfScope' | 'ConflictingPolicy';
    }
  | { readonly kind: 'acting'; readonly namespace: string; readonly name: string; readonly sizing: Sizing };

/** All that a decision about one workload depends on. */
export interface RightsizingSnapshot {
  readonly workload: SizedWorkload;
  readonly policy: ActingPolicy;
  readonly readOnly: boolean;
  readonly dryRun: boolean;
  /** The API server refused to let the workload or its pods be read or changed. */
  readonly forbidden: boolean;
  readonly template: readonly TemplateContainer[];
  readonly remembered: ReadonlyMap<string, ContainerMemory>;
  readonly lastAppliedMs: number | null;
  /** By container. What is missing has no usage, or none that is fresh. */
  readonly usage: ReadonlyMap<string, ContainerUsage>;
  readonly recent: ReadonlyMap<string, Readonly<Record<SizedResource, RecentAmounts | null>>>;
  readonly incidents: ReadonlyMap<string, Incidents>;
  /** Resources whose utilization a HorizontalPodAutoscaler scales on. */
  readonly scaledOn: ReadonlySet<SizedResource>;
  /** Resources by container that a VerticalPodAutoscaler writes. */
  readonly managedByVpa: ReadonlyMap<string, ReadonlySet<SizedResource>>;
  /** Containers whose CPU limit allocation owns. */
  readonly lent: ReadonlySet<string>;
  readonly limitRanges: readonly LimitRangeItem[];
  readonly largestNode: Resources | null;
  /** Whether the API server has `pods/resize`. */
  readonly resizeSupported: boolean;
  readonly pods: readonly SizedPod[];
}
