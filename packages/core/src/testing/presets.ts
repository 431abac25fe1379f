import type { NodeLabelTexts } from '../capacity/labels.ts';

/** What the providers put on their nodes, each ready to be used as `nodeLabels`. */
export const providerPresets = {
  // https://karpenter.sh/docs/concepts/scheduling/#well-known-labels
  karpenter: { spot: 'karpenter.sh/capacity-type=spot', onDemand: 'karpenter.sh/capacity-type=on-demand' },
  // https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html#managed-node-group-capacity-types
  eks: { spot: 'eks.amazonaws.com/capacityType=SPOT', onDemand: 'eks.amazonaws.com/capacityType=ON_DEMAND' },
  // https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms: only spot nodes are labelled.
  gke: { spot: 'cloud.google.com/gke-spot=true', onDemand: '!cloud.google.com/gke-spot' },
  // https://learn.microsoft.com/azure/aks/spot-node-pool: only spot nodes are labelled.
  aks: {
    spot: 'kubernetes.azure.com/scalesetpriority=spot',
    onDemand: 'kubernetes.azure.com/scalesetpriority!=spot',
  },
} as const satisfies Readonly<Record<string, NodeLabelTexts>>;
