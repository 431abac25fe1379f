import type { Annotations, Labels } from '../policy/keys.ts';

/** The part of a pod that placement reads. Extra fields do not matter. */
export interface PodView {
  readonly metadata?: {
    readonly annotations?: Annotations | null;
    readonly labels?: Labels | null;
  } | null;
  readonly spec: PodSpecView;
}

export interface PodSpecView {
  readonly nodeSelector?: Labels | null;
  readonly affinity?: { readonly nodeAffinity?: NodeAffinityView | null } | null;
  readonly tolerations?: readonly Toleration[] | null;
  readonly topologySpreadConstraints?: readonly { readonly topologyKey: string }[] | null;
}

interface NodeAffinityView {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: {
    readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] | null;
  } | null;
}

/** Requirements that must all hold. A term with none selects no node at all. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeRequirement[] | null;
  readonly matchFields?: readonly NodeRequirement[] | null;
}

export interface NodeRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  readonly values?: readonly string[] | null;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

/** The terms of which a node must meet at least one; empty when the pod requires nothing. */
export function requiredTerms(spec: PodSpecView): readonly NodeSelectorTerm[] {
  return spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
}

/** A term without requirements is no wildcard. */
export function selectsNothing({ matchExpressions, matchFields }: NodeSelectorTerm): boolean {
  return (matchExpressions ?? []).length === 0 && (matchFields ?? []).length === 0;
}
