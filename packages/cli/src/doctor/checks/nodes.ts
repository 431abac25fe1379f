import { capacityTypes, otherType } from '@spotalis/core';
import type { Check, Finding } from '../finding.ts';

const MOST_NAMED = 3;

/** Names, and how many more. */
function some(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Nodes of both types, as the configured labels know them. */
export const hasBothTypes: Check = ({ survey: { objects, settings } }) => {
  const { nodes } = objects;
  // None at all: they may not be read, or there is nowhere to run anyway.
  if (nodes.length === 0) return [];
  const absent = capacityTypes.filter((type) => nodes.every((node) => node.type !== type));
  const { spot, onDemand } = settings.values.nodeLabels;
  const labels = `spot: ${spot.join(', ')}; on-demand: ${onDemand.join(', ')}`;
  const common = {
    object: 'Nodes',
    remedy: `look at them with: kubectl get nodes --show-labels, and set nodeLabels to what they carry: docs/configuration.md`,
  };
  const [type] = absent;
  if (type === undefined) return [];
  if (absent.length === capacityTypes.length) {
    return [
      {
        ...common,
        id: 'node-labels-absent',
        severity: 'error',
        what: `no node carries a configured label of either type (${labels})`,
        why: 'nobody knows which node is spot: no pod is steered',
      },
    ];
  }
  return [
    {
      ...common,
      id: 'node-type-absent',
      severity: 'warning',
      what: `none of ${nodes.length} nodes is known as ${type} (${labels})`,
      why:
        type === 'on-demand'
          ? 'no pod is steered until a node, or a NodePool, is seen to offer on-demand'
          : `pods wait for spot until an autoscaler brings such a node, or get substitutes on ${otherType(type)}`,
    },
  ];
};

/** Nodes of no type. Often they are meant so: those of the control plane, of GPUs. */
export const areTyped: Check = ({ survey }) => {
  const typed = survey.objects.nodes.filter(({ type }) => type !== undefined);
  const untyped = survey.objects.nodes.filter(({ type }) => type === undefined);
  if (untyped.length === 0 || typed.length === 0) return [];
  const names = new Set(untyped.map(({ metadata }) => metadata.name));
  const strays = survey.workloads
    .filter((workload) => survey.managedOf(workload).managed)
    .flatMap((workload) => survey.podsOf(workload))
    .filter(({ ended, nodeName }) => !ended && nodeName !== undefined && names.has(nodeName));
  const finding: Finding = {
    id: 'nodes-untyped',
    severity: strays.length === 0 ? 'info' : 'warning',
    object: 'Nodes',
    what: `${untyped.length} of ${untyped.length + typed.length} are neither spot nor on-demand: ${some([...names])}${strays.length === 0 ? '' : `; ${strays.length} managed pods run there`}`,
    why: 'pods on them count for no type, and steered pods are not sent there',
    remedy: 'where that is not meant, label them, or name their label in nodeLabels: docs/configuration.md',
  };
  return [finding];
};
