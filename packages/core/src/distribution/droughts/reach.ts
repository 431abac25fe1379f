import type { CapacityType } from '../../capacity/type.ts';
import { matchesTerms } from '../../cluster/match.ts';
import type { Nodes } from '../../cluster/node.ts';
import type { PodVolumes } from '../../cluster/workload-pod.ts';

/**
 * Which capacity a pod with these volumes can get, judged by the nodes there are. `unknown`: by none of them, or the
 * volumes could not be read.
 */
export function typesReached(
  volumes: PodVolumes,
  nodes: Pick<Nodes, 'values'>,
): CapacityType | 'both' | 'unknown' {
  if (volumes.kind === 'unknown') return 'unknown';
  const { affinities } = volumes;
  if (affinities.length === 0) return 'both';
  const reached = new Set<CapacityType>();
  for (const node of nodes.values()) {
    if (node.type === 'unknown' || reached.has(node.type)) continue;
    if (affinities.every((terms) => matchesTerms(node, terms))) reached.add(node.type);
  }
  if (reached.size === 2) return 'both';
  const [only] = reached;
  return only ?? 'unknown';
}
