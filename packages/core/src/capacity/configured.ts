import { type NodeLabelProblem, type NodeLabels, type NodeLabelTexts, readNodeLabels } from './labels.ts';
import { type Placement, preparePlacement } from './placement.ts';
import type { NodeRequirement, Toleration } from '../cluster/pod-spec.ts';

/** What the configuration says about nodes and about pods that are sent to them. */
export interface CapacityTexts {
  readonly nodeLabels: NodeLabelTexts;
  readonly placement: {
    readonly tolerations: readonly Toleration[];
    readonly nodeAffinity: {
      readonly spot: readonly NodeRequirement[];
      readonly onDemand: readonly NodeRequirement[];
    };
    readonly spreadSpotOverZones: boolean;
  };
}

/** The same, ready to be used. */
export interface Capacity {
  readonly nodeLabels: NodeLabels;
  readonly placement: Placement;
}

export type CapacityReading =
  | { readonly ok: true; readonly value: Capacity }
  | { readonly ok: false; readonly problems: readonly NodeLabelProblem[] };

export function readCapacity({ nodeLabels: texts, placement }: CapacityTexts): CapacityReading {
  const reading = readNodeLabels(texts);
  if (!reading.ok) return reading;
  const { tolerations, nodeAffinity, spreadSpotOverZones } = placement;
  const affinity = { spot: nodeAffinity.spot, 'on-demand': nodeAffinity.onDemand };
  const nodeLabels = reading.labels;
  return {
    ok: true,
    value: {
      nodeLabels,
      placement: preparePlacement(nodeLabels, { tolerations, affinity, spreadSpotOverZones }),
    },
  };
}
