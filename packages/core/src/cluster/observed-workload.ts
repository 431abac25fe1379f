import type { DeploymentView, IntOrPercent, StatefulSetView, TemplateView } from './workload.ts';
import { type Identified, identityOf, ownAnnotations, ownLabels, type RawIdentified } from './metadata.ts';
import { pruneTemplate, type RawTemplate } from './template.ts';

export type WorkloadKind = 'Deployment' | 'StatefulSet';

export interface RawWorkload extends RawIdentified {
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: IntOrPercent };
    };
    readonly podManagementPolicy?: string;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number };
    };
    readonly ordinals?: { readonly start?: number };
    readonly template?: RawTemplate;
    readonly volumeClaimTemplates?: readonly { readonly metadata?: { readonly name?: string } }[];
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
  };
}

type DeploymentRollout = Pick<DeploymentView, 'kind' | 'paused' | 'strategy'>;

type StatefulSetRollout = Pick<
  StatefulSetView,
  'kind' | 'podManagement' | 'strategy' | 'firstOrdinal' | 'currentRevision' | 'updateRevision'
> & {
  /** A Deployment's are on its ReplicaSets. */
  readonly template: TemplateView;
  /** The names of its volumeClaimTemplates: an ordinal's claims are named after them. */
  readonly claimTemplates: readonly string[];
};

/** What is kept of a Deployment or a StatefulSet. */
export interface ObservedWorkload extends Identified {
  readonly workloadKind: WorkloadKind;
  /** Under our prefix: the opt-in. */
  readonly labels: Readonly<Record<string, string>>;
  /** Under our prefix: the policy. */
  readonly annotations: Readonly<Record<string, string>>;
  /** As its owner declares it; the API server fills in 1 where nothing is said. */
  readonly replicas: number;
  readonly deleting: boolean;
  readonly generation: number;
  readonly observedGeneration: number;
  readonly updatedReplicas: number;
  readonly availableReplicas: number;
  /** How it makes its pods anew. */
  readonly rollout: DeploymentRollout | StatefulSetRollout;
}

export const pruneWorkload =
  (workloadKind: WorkloadKind) =>
  (raw: RawWorkload): ObservedWorkload => {
    const { metadata, spec, status } = raw;
    return {
      metadata: identityOf(metadata),
      workloadKind,
      labels: ownLabels(metadata),
      annotations: ownAnnotations(metadata),
      replicas: spec?.replicas ?? 1,
      deleting: metadata.deletionTimestamp !== undefined,
      generation: metadata.generation ?? 0,
      observedGeneration: status?.observedGeneration ?? 0,
      updatedReplicas: status?.updatedReplicas ?? 0,
      availableReplicas: status?.availableReplicas ?? 0,
      rollout: workloadKind === 'Deployment' ? deploymentRollout(raw) : statefulSetRollout(raw),
    };
  };

function deploymentRollout({ spec }: RawWorkload): DeploymentRollout {
  return {
    kind: 'Deployment',
    paused: spec?.paused ?? false,
    strategy:
      spec?.strategy?.type === 'Recreate'
        ? { type: 'Recreate' }
        : // The API server fills the default in.
          { type: 'RollingUpdate', maxUnavailable: spec?.strategy?.rollingUpdate?.maxUnavailable ?? '25%' },
  };
}

function statefulSetRollout({ spec, status }: RawWorkload): StatefulSetRollout {
  return {
    kind: 'StatefulSet',
    podManagement: spec?.podManagementPolicy === 'Parallel' ? 'Parallel' : 'OrderedReady',
    strategy:
      spec?.updateStrategy?.type === 'OnDelete'
        ? { type: 'OnDelete' }
        : { type: 'RollingUpdate', partition: spec?.updateStrategy?.rollingUpdate?.partition ?? 0 },
    firstOrdinal: spec?.ordinals?.start ?? 0,
    currentRevision: status?.currentRevision ?? '',
    updateRevision: status?.updateRevision ?? '',
    template: pruneTemplate(spec?.template ?? {}),
    claimTemplates: (spec?.volumeClaimTemplates ?? []).map(({ metadata }) => metadata?.name ?? ''),
  };
}
