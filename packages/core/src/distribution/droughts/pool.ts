import type { Placement } from '../../capacity/placement.ts';
import { type PodSpecView, requiredTerms } from '../../cluster/pod-spec.ts';

/** Tolerations that the API server and the kubelets deal out; templates do not have them yet. */
const systemTaints = 'node.kubernetes.io/';

/**
 * The name of the placement: pods with the same one look for spot capacity in the same places, whatever they are
 * part of. It is the same for a template and for the pods made from it.
 */
export function poolOf(spec: PodSpecView, { keys }: Placement): string {
  const selector = Object.entries(spec.nodeSelector ?? {})
    .filter(([key]) => !keys.has(key))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const tolerations = (spec.tolerations ?? [])
    .filter(({ key }) => key === undefined || !key.startsWith(systemTaints))
    .map(({ key, operator, value, effect }) =>
      [key ?? '', operator ?? 'Equal', value ?? '', effect ?? ''].join('|'),
    )
    .toSorted();
  const parts = [selector, requiredTerms(spec), tolerations];
  return parts.every(({ length }) => length === 0) ? 'spot' : `spot ${JSON.stringify(parts)}`;
}
