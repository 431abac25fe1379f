import type { Placement, TypePlacement } from './placement.ts';
import {
  type NodeRequirement,
  type NodeSelectorTerm,
  type PodSpecView,
  requiredTerms,
  selectsNothing,
} from '../cluster/pod-spec.ts';
import { canAllBeMet } from './requirement.ts';
import type { CapacityType } from './type.ts';

/** The types that the pod's own constraints leave open. `none`: it is best left as it is. */
export type AllowedTypes = 'both' | CapacityType | 'none';

/** A constraint on any other key is for the scheduler: it says nothing about the type. */
function onCapacityKeys(term: NodeSelectorTerm, keys: ReadonlySet<string>): readonly NodeRequirement[] {
  return (term.matchExpressions ?? []).filter(({ key }) => keys.has(key));
}

function isAllowed(spec: PodSpecView, keys: ReadonlySet<string>, target: TypePlacement): boolean {
  const fixed: NodeRequirement[] = [];
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) {
    if (keys.has(key) && key !== target.overriddenKey) fixed.push({ key, operator: 'In', values: [value] });
  }
  const terms = requiredTerms(spec).filter((term) => !selectsNothing(term));
  const choices = terms.length === 0 ? [[]] : terms.map((term) => onCapacityKeys(term, keys));
  return choices.some((choice) =>
    target.descriptions.some((description) => canAllBeMet([...fixed, ...choice, ...description])),
  );
}

function mentionsCapacity(spec: PodSpecView, keys: ReadonlySet<string>): boolean {
  for (const key of Object.keys(spec.nodeSelector ?? {})) if (keys.has(key)) return true;
  return requiredTerms(spec).some((term) => onCapacityKeys(term, keys).length > 0);
}

/**
 * Which types the pod can be sent to. Its nodeSelector for the key that placement writes gives way and so forbids
 * nothing; a required node affinity, or a nodeSelector for another of the configured keys, stays and may.
 */
export function allowedTypes(spec: PodSpecView, { keys, byType }: Placement): AllowedTypes {
  if (!mentionsCapacity(spec, keys)) return 'both';
  const spot = isAllowed(spec, keys, byType.spot);
  const onDemand = isAllowed(spec, keys, byType['on-demand']);
  if (spot && onDemand) return 'both';
  if (spot) return 'spot';
  return onDemand ? 'on-demand' : 'none';
}
