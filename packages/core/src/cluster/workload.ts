import type { PodSpecView, PodView } from './pod-spec.ts';
import type { PodCounts } from '../policy/target.ts';
import type { LabelSelector } from '../policy/selector.ts';
import type { Resources } from './resources.ts';

interface WorkloadCommon {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `metadata.deletionTimestamp` is set. */
  readonly deleting: boolean;
  readonly generation: number;
  readonly observedGeneration: number;
  /** `spec.replicas` as the owner declares it. */
  readonly replicas: number;
  /** `status.updatedReplicas`. */
  readonly updatedReplicas: number;
  /** `status.availableReplicas`. */
  readonly availableReplicas: number;
  /** When the numbers of the policy last changed as this process saw it; null: not since it started. */
  readonly policyChangedAtMs: number | null;
  /** As above, for `spec.replicas`. */
  readonly replicasChangedAtMs: number | null;
  /** When the last pod was seen to begin terminating or to vanish. Creations are read off the pods. */
  readonly podGoneAtMs: number | null;
}

export interface DeploymentView extends WorkloadCommon {
  readonly kind: 'Deployment';
  /** `spec.paused`. */
  readonly paused: boolean;
  readonly strategy:
    | { readonly type: 'RollingUpdate'; readonly maxUnavailable: IntOrPercent }
    | { readonly type: 'Recreate' };
  /** Its ReplicaSets; those that want no pods may be left out. */
  readonly revisions: readonly RevisionView[];
}

export interface StatefulSetView extends WorkloadCommon {
  readonly kind: 'StatefulSet';
  readonly podManagement: 'OrderedReady' | 'Parallel';
  readonly strategy:
    | { readonly type: 'RollingUpdate'; readonly partition: number }
    | { readonly type: 'OnDelete' };
  /** `spec.ordinals.start`. */
  readonly firstOrdinal: number;
  /** `status.currentRevision` and `status.updateRevision`; equal when no rollout is under way. */
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly template: TemplateView;
}

export type WorkloadView = DeploymentView | StatefulSetView;

export interface RevisionView {
  /** The ReplicaSet's. */
  readonly uid: string;
  readonly name: string;
  /** Its own `spec.replicas`. */
  readonly replicas: number;
  readonly template: TemplateView;
  /** What its ledger holds; null where nobody asked. A move needs it to agree with the pods. */
  readonly ledger: PodCounts | null;
}

/** A number, or a text such as "25%". */
export type IntOrPercent = number | string;

/** What a new pod would be made of, before admission. */
export interface TemplateView extends PodView {
  readonly spec: TemplateSpec;
  /** As `podRequests` has it. */
  readonly requests: Resources;
  /** It takes a port of its node, where another pod may have it. */
  readonly hostPort: boolean;
}

export interface TemplateSpec extends PodSpecView {
  readonly affinity?:
    | (NonNullable<PodSpecView['affinity']> & {
        readonly podAffinity?: RequiredPodTerms | null;
        readonly podAntiAffinity?: RequiredPodTerms | null;
      })
    | null;
  readonly topologySpreadConstraints?: readonly SpreadConstraint[] | null;
}

export interface RequiredPodTerms {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] | null;
}

export interface PodAffinityTerm {
  readonly topologyKey: string;
  readonly labelSelector?: LabelSelector | null;
  readonly matchLabelKeys?: readonly string[] | null;
  readonly mismatchLabelKeys?: readonly string[] | null;
  readonly namespaces?: readonly string[] | null;
  readonly namespaceSelector?: object | null;
}

export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: LabelSelector | null;
  readonly matchLabelKeys?: readonly string[] | null;
  readonly minDomains?: number | null;
  readonly nodeAffinityPolicy?: string | null;
  readonly nodeTaintsPolicy?: string | null;
}
