import { deletionCost } from '../policy/slot.ts';
import type { PolicyNumbers } from '../policy/target.ts';
import { type Annotations, foreignKeys, podKeys } from '../policy/keys.ts';
import { formatPolicyMark } from '../policy/mark.ts';
import { isOwnCost } from './mark.ts';
import { type JsonPatchOperation, patchEntries, patchList } from './patch.ts';
import type { Placement, TypePlacement } from './placement.ts';
import {
  type NodeRequirement,
  type NodeSelectorTerm,
  type PodSpecView,
  type PodView,
  requiredTerms,
  selectsNothing,
  type Toleration,
} from '../cluster/pod-spec.ts';
import { isSameRequirement } from './requirement.ts';
import type { CapacityType } from './type.ts';

/** What was decided for one pod. */
export interface PodAdmission {
  readonly type: CapacityType;
  readonly numbers: PolicyNumbers;
  /** Stands in for a spot pod while there is no spot capacity. */
  readonly substitute: boolean;
  /** A ReplicaSet's pod holds a reservation; a StatefulSet's is known by its ordinal. */
  readonly place:
    | { readonly kind: 'reserved'; readonly token: string; readonly rank: number }
    | { readonly kind: 'ordinal' };
}

export interface PodPatch {
  readonly operations: readonly JsonPatchOperation[];
  /** The user's own pod-deletion-cost, left as it was; scale-downs of this workload are not exact. */
  readonly foreignDeletionCost: string | null;
}

/** The JSON patch of one admission. Applying it and asking again gives no operations. */
export function admitPod(pod: PodView, admission: PodAdmission, placement: Placement): PodPatch {
  const target = placement.byType[admission.type];
  const { annotations, foreignDeletionCost } = bookkeeping(pod.metadata?.annotations ?? {}, admission);
  return {
    operations: [
      ...patchEntries('/metadata/annotations', pod.metadata?.annotations, annotations),
      ...patchEntries('/spec/nodeSelector', pod.spec.nodeSelector, selectorOf(target)),
      ...patchAffinity(pod.spec, target),
      ...patchList('/spec/tolerations', pod.spec.tolerations, missingTolerations(pod.spec, target)),
      ...patchList(
        '/spec/topologySpreadConstraints',
        pod.spec.topologySpreadConstraints,
        zoneSpread(pod, target),
      ),
    ],
    foreignDeletionCost,
  };
}

/**
 * What of a pod's placement is not as its admission to this type left it: somebody changed it afterwards. Null: nothing,
 * so that the pod goes where it was sent.
 */
export function overrideOf(spec: PodSpecView, type: CapacityType, placement: Placement): string | null {
  const target = placement.byType[type];
  for (const [key, wanted] of Object.entries(selectorOf(target))) {
    const found = spec.nodeSelector?.[key] ?? null;
    if (found === wanted) continue;
    const field = `spec.nodeSelector["${key}"]`;
    if (found === null) return `${field}, which was "${wanted}", is gone`;
    return wanted === null ? `${field} is "${found}"` : `${field} is "${found}" instead of "${wanted}"`;
  }
  return patchAffinity(spec, target).length === 0
    ? null
    : `the required terms of spec.affinity.nodeAffinity do not ask for ${type} nodes`;
}

interface Bookkeeping {
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly foreignDeletionCost: string | null;
}

/** Whatever a template brought along under our keys is replaced or removed. */
function bookkeeping(existing: Annotations, { type, numbers, substitute, place }: PodAdmission): Bookkeeping {
  const annotations: Record<string, string | null> = {
    [podKeys.capacityType]: type,
    [podKeys.policy]: formatPolicyMark(numbers),
    [podKeys.substitute]: substitute ? 'true' : null,
    [podKeys.reservation]: null,
    [podKeys.rank]: null,
  };
  if (place.kind === 'ordinal') return { annotations, foreignDeletionCost: null };
  annotations[podKeys.reservation] = place.token;
  annotations[podKeys.rank] = String(place.rank);
  const cost = String(deletionCost(numbers, type, place.rank));
  const known = existing[foreignKeys.podDeletionCost];
  if (known !== undefined && known !== cost && !isOwnCost(known, existing)) {
    return { annotations, foreignDeletionCost: known };
  }
  annotations[foreignKeys.podDeletionCost] = cost;
  return { annotations, foreignDeletionCost: null };
}

function selectorOf({ selector, overriddenKey }: TypePlacement): Readonly<Record<string, string | null>> {
  if (selector !== null) return { [selector.key]: selector.value };
  return overriddenKey === null ? {} : { [overriddenKey]: null };
}

/** ANDs the alternatives into every term; a term that holds all of one alternative is narrow enough already. */
function narrow(
  terms: readonly NodeSelectorTerm[],
  alternatives: TypePlacement['alternatives'],
): readonly NodeSelectorTerm[] {
  if (terms.length === 0) return alternatives.map((matchExpressions) => ({ matchExpressions }));
  return terms.flatMap((term) => {
    // With our requirements in it, it would select something.
    if (selectsNothing(term)) return [term];
    const own = term.matchExpressions ?? [];
    const holds = (wanted: NodeRequirement): boolean => own.some((known) => isSameRequirement(known, wanted));
    if (alternatives.some((alternative) => alternative.every(holds))) return [term];
    return alternatives.map((alternative) => ({
      ...term,
      matchExpressions: [...own, ...alternative.filter((wanted) => !holds(wanted))],
    }));
  });
}

function patchAffinity(spec: PodSpecView, { alternatives }: TypePlacement): JsonPatchOperation[] {
  if (alternatives.length === 0) return [];
  const existing = requiredTerms(spec);
  const nodeSelectorTerms = narrow(existing, alternatives);
  const unchanged =
    existing.length === nodeSelectorTerms.length &&
    nodeSelectorTerms.every((term, index) => term === existing[index]);
  if (unchanged) return [];
  const required = { nodeSelectorTerms };
  const path = '/spec/affinity';
  const nodeAffinity = spec.affinity?.nodeAffinity;
  if (!spec.affinity) {
    const value = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    return [{ op: 'add', path, value }];
  }
  if (!nodeAffinity) {
    const value = { requiredDuringSchedulingIgnoredDuringExecution: required };
    return [{ op: 'add', path: `${path}/nodeAffinity`, value }];
  }
  const at = `${path}/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution`;
  return [{ op: 'add', path: at, value: required }];
}

function isSameToleration(a: Toleration, b: Toleration): boolean {
  return (
    (a.key ?? '') === (b.key ?? '') &&
    (a.operator ?? 'Equal') === (b.operator ?? 'Equal') &&
    (a.value ?? '') === (b.value ?? '') &&
    (a.effect ?? '') === (b.effect ?? '') &&
    a.tolerationSeconds === b.tolerationSeconds
  );
}

function missingTolerations({ tolerations }: PodSpecView, target: TypePlacement): readonly Toleration[] {
  if (target.tolerations.length === 0) return [];
  const existing = tolerations ?? [];
  return target.tolerations.filter((wanted) => !existing.some((known) => isSameToleration(known, wanted)));
}

/**
 * An even spread of the revision's spot pods over zones, as a wish: as a demand it could keep a pod waiting for a
 * zone that has no spot capacity. The scheduler counts only the nodes that the pod's own selector and affinity
 * allow (nodeAffinityPolicy Honor, its default), so the on-demand pods do not tilt it. A spread over zones that
 * the template has is the user's, and stays alone.
 */
function zoneSpread(pod: PodView, { spreadOverZones }: TypePlacement): readonly object[] {
  if (!spreadOverZones) return [];
  const existing = pod.spec.topologySpreadConstraints ?? [];
  if (existing.some(({ topologyKey }) => topologyKey === foreignKeys.zone)) return [];
  const labels = pod.metadata?.labels ?? {};
  for (const key of [foreignKeys.podTemplateHash, foreignKeys.controllerRevisionHash]) {
    const revision = labels[key];
    if (revision === undefined) continue;
    const labelSelector = { matchLabels: { [key]: revision } };
    return [
      { maxSkew: 1, topologyKey: foreignKeys.zone, whenUnsatisfiable: 'ScheduleAnyway', labelSelector },
    ];
  }
  return [];
}
