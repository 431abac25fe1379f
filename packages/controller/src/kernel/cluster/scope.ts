import {
  type CapacityType,
  classifyNode,
  type Labels,
  managed,
  type NodeLabels,
  type Scope,
} from '@spotalis/core';
import type { Managed } from './cluster.ts';

/** The one rule of what is ours, with the configured scope. */
export function managedIn(scope: Scope): Managed {
  return (namespace, workload) =>
    managed(
      {
        namespace: workload.metadata.namespace ?? '',
        namespaceLabels: namespace?.labels ?? {},
        workloadLabels: workload.labels,
      },
      scope,
    ).managed;
}

/** A node's type by its labels; undefined for one that no configured label knows. */
export function classifierOf(nodeLabels: NodeLabels): (labels: Labels) => CapacityType | undefined {
  return (labels) => {
    const type = classifyNode(labels, nodeLabels);
    return type === 'unknown' ? undefined : type;
  };
}
