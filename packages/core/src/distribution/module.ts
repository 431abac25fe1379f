import { declare } from '@spotalis/units';
import { declareModule } from '../module/declaration.ts';

const settings = declare({
  modules: {
    distribution: {
      enabled: {
        format: 'flag',
        default: true,
        doc: 'Keep the spot share and the on-demand floor: steer new pods, move running ones, bridge droughts. Off: pods go wherever the scheduler likes.',
      },
    },
  },
  defaults: {
    spotPercentage: {
      format: 'integer',
      min: 0,
      max: 100,
      example: 70,
      default: null,
      doc: 'spot-percentage of managed workloads that set none, on themselves or on their namespace.',
      reloadable: true,
    },
    minOnDemand: {
      format: 'integer',
      min: 0,
      max: 10_000,
      example: 1,
      default: null,
      doc: 'min-on-demand of managed workloads that set none, on themselves or on their namespace.',
      reloadable: true,
    },
  },
});

/** Where pods run. */
export const distribution = declareModule({
  name: 'distribution',
  settings,
  resources: [],
  rights: {
    controller: {
      workloads: [
        {
          why: 'Deletion costs and capacity types are written on pods.',
          group: '',
          resources: ['pods'],
          verbs: ['patch'],
        },
        { why: 'Moves.', group: '', resources: ['pods/eviction'], verbs: ['create'] },
      ],
      namespace: [
        {
          why: "See whether the webhook's Service has somebody behind it: without, nothing is moved.",
          group: 'discovery.k8s.io',
          resources: ['endpointslices'],
          verbs: ['list'],
        },
        { why: 'Placeholders.', group: '', resources: ['pods'], verbs: ['create', 'delete'] },
        {
          why: 'Tell of droughts. The chart brings the ConfigMap, so nobody needs to create one.',
          group: '',
          resources: ['configmaps'],
          name: 'spotalis-droughts',
          verbs: ['get', 'patch'],
        },
      ],
    },
    webhook: {
      cluster: [
        {
          why: "A pod without our marks has its node's type; and whether there are nodes with the configured labels at all.",
          group: '',
          resources: ['nodes'],
          verbs: ['get', 'list'],
        },
        {
          why: 'Karpenter may make such a node.',
          group: 'karpenter.sh',
          resources: ['nodepools'],
          verbs: ['list'],
        },
      ],
      workloads: [
        {
          why: 'The pods of one ReplicaSet, where the ledger does not know them.',
          group: '',
          resources: ['pods'],
          verbs: ['list'],
        },
      ],
      embedded: [
        {
          why: 'With redis.url memory:// the webhook watches pods for itself.',
          group: '',
          resources: ['pods'],
          verbs: ['watch'],
        },
      ],
    },
  },
});
