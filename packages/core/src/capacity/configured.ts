import { type NodeLabelProblem, type NodeLabels, readNodeLabels } from './labels.ts';
import { type Placement, preparePlacement } from './placement.ts';
import type { CapacityValues } from './settings.ts';

/** What the configuration says about nodes and about pods that are sent to them, ready to be used. */
export interface Capacity {
  readonly nodeLabels: NodeLabels;
  readonly placement: Placement;
}

export type CapacityReading =
  | { readonly ok: true; readonly value: Capacity }
  | { readonly ok: false; readonly problems: readonly NodeLabelProblem[] };

export function readCapacity({ nodeLabels: texts, placement }: CapacityValues): CapacityReading {
  const reading = readNodeLabels({ spot: texts.spot, onDemand: texts.onDemand });
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
