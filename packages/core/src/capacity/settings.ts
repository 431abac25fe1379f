import { declare, type ValuesOf } from '@spotalis/units';
import { nodeRequirements, tolerations } from './written-placement.ts';

const nodeLabels = {
  format: 'list',
  pattern: /^(![\w./-]+|[\w./-]+!?=[\w.-]*)$/,
  what: 'one or a list of key=value, key!=value or !key',
  example: 'karpenter.sh/capacity-type=spot',
} as const;

export const capacitySettings = declare({
  nodeLabels: {
    spot: {
      ...nodeLabels,
      default: ['karpenter.sh/capacity-type=spot'],
      doc: 'Labels by which a spot node is known; any of them suffices.',
    },
    onDemand: {
      ...nodeLabels,
      default: ['karpenter.sh/capacity-type=on-demand'],
      doc: 'Labels by which an on-demand node is known. Where only spot nodes carry a label: its negation.',
    },
  },
  placement: {
    tolerations: { ...tolerations, default: [], doc: 'Added to pods that are sent to spot.' },
    nodeAffinity: {
      spot: {
        ...nodeRequirements,
        default: [],
        doc: 'Required of the nodes of pods that are sent to spot, on top of the label.',
      },
      onDemand: { ...nodeRequirements, default: [], doc: 'The same of pods that are sent to on-demand.' },
    },
    assumeLabels: {
      format: 'flag',
      default: false,
      doc: 'Steer pods from the start. Otherwise none is until a node, or a NodePool of Karpenter, is seen to offer on-demand.',
    },
    spreadSpotOverZones: {
      format: 'flag',
      default: false,
      doc: "Adds a soft topology spread over zones to a workload's spot pods.",
    },
  },
});

/** What the configuration says about nodes and about pods that are sent to them. */
export type CapacityValues = ValuesOf<typeof capacitySettings.settings>;
