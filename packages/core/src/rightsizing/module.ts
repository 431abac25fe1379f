import { declare } from '@spotalis/units';
import { declareModule } from '../module/declaration.ts';
import { optimizationPolicy } from './optimization-policy.ts';
import { workloadRecommendation } from './workload-recommendation.ts';

const settings = declare({
  modules: {
    rightsizing: {
      enabled: {
        format: 'flag',
        default: false,
        doc: 'Size CPU and memory requests from measured usage, as each OptimizationPolicy says.',
      },
    },
  },
});

/** How big pods are. */
export const rightsizing = declareModule({
  name: 'rightsizing',
  settings,
  resources: [optimizationPolicy, workloadRecommendation],
  rights: {
    controller: {
      cluster: [
        {
          why: 'What is to be sized, and how.',
          group: 'spotalis.io',
          resources: ['optimizationpolicies', 'workloadrecommendations'],
          verbs: ['list', 'watch'],
        },
      ],
      workloads: [
        {
          why: 'One WorkloadRecommendation for each workload.',
          group: 'spotalis.io',
          resources: ['workloadrecommendations'],
          verbs: ['create', 'delete', 'patch'],
        },
        {
          why: 'What was found out.',
          group: 'spotalis.io',
          resources: ['optimizationpolicies/status', 'workloadrecommendations/status'],
          verbs: ['patch'],
        },
      ],
    },
    webhook: {
      cluster: [
        {
          why: 'The targets of new pods.',
          group: 'spotalis.io',
          resources: ['workloadrecommendations'],
          verbs: ['list', 'watch'],
        },
      ],
    },
  },
});
