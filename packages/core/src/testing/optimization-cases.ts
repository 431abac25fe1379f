import { accepted, casesOf, refused, type ResourceCase } from '../resource/cases.ts';
import { optimizationPolicy } from '../rightsizing/optimization-policy.ts';
import { workloadRecommendation } from '../rightsizing/workload-recommendation.ts';

const least = {
  mode: 'Auto',
  selector: { workloadSelector: { matchLabels: { optimize: 'true' } } },
  resourceBounds: { cpu: { min: '100m', max: '4' }, memory: { min: '128Mi', max: '8Gi' } },
};
const with_ = (more: object) => ({ ...least, ...more });
const cpu = (min: unknown, max: unknown) =>
  with_({ resourceBounds: { ...least.resourceBounds, cpu: { min, max } } });
const metrics = (more: object) => with_({ metricsConfig: more });
const strategy = (more: object) => with_({ updateStrategy: more });

/** The manifest of the document that the module goes back to, under our group. */
export const seedSpec = {
  mode: 'Auto',
  selector: {
    namespaceSelector: { matchLabels: { environment: 'production' } },
    workloadSelector: { matchLabels: { optimize: 'true' } },
    namespaces: { allow: ['default', 'production'], deny: ['kube-system'] },
  },
  metricsConfig: { provider: 'prometheus', rollingWindow: '24h', percentile: 'P90', safetyFactor: 1.2 },
  resourceBounds: { cpu: { min: '100m', max: '4000m' }, memory: { min: '128Mi', max: '8Gi' } },
  updateStrategy: { allowInPlaceResize: true, allowRecreate: false, updateRequestsOnly: true },
  reconciliationInterval: '5m',
};

const byRules: readonly ResourceCase[] = [
  accepted('a manifest of OptiPod', seedSpec),
  accepted('equal bounds', cpu('1', '1000m')),
  refused('bounds the wrong way round', cpu('2', '500m'), 'Conflict', 'spec.resourceBounds.cpu.min'),
  refused('a bound of zero', cpu('0', '1'), 'Invalid', 'spec.resourceBounds.cpu.min'),
  refused('a selector of nothing', with_({ selector: {} }), 'Conflict', 'spec.selector'),
  refused(
    'kinds alone',
    with_({ selector: { workloadTypes: { include: ['DaemonSet'] } } }),
    'Conflict',
    'spec.selector',
  ),
  accepted('denied namespaces alone', with_({ selector: { namespaces: { deny: ['kube-system'] } } })),
  refused('a factor below one', metrics({ safetyFactor: 0.9 }), 'Invalid', 'spec.metricsConfig.safetyFactor'),
  refused(
    'a percentile of its own',
    metrics({ percentile: 'P95' }),
    'UnknownValue',
    'spec.metricsConfig.percentile',
  ),
  refused('points of an hour', metrics({ resolution: '1h' }), 'Invalid', 'spec.metricsConfig.resolution'),
  accepted('no history before a decrease', metrics({ minHistory: '0s' })),
  refused(
    'surge without stabilization',
    metrics({ surge: { enabled: true } }),
    'Conflict',
    'spec.updateStrategy.decreaseStabilization',
  ),
  refused(
    'surge with too short a stabilization',
    { ...metrics({ surge: { enabled: true } }), updateStrategy: { decreaseStabilization: '2h59m' } },
    'Conflict',
    'spec.updateStrategy.decreaseStabilization',
  ),
  accepted('surge with stabilization', {
    ...metrics({ surge: { enabled: true } }),
    updateStrategy: { decreaseStabilization: '3h' },
  }),
  refused(
    'a multiplier beyond its bounds',
    strategy({ limitConfig: { memoryLimitMultiplier: 11 } }),
    'Invalid',
    'spec.updateStrategy.limitConfig.memoryLimitMultiplier',
  ),
  refused('half a window', strategy({ schedule: '0 22 * * *' }), 'Conflict', 'spec.updateStrategy'),
  accepted('a window', strategy({ schedule: 'CRON_TZ=Europe/Berlin 0 22 * * *', duration: '4h' })),
  {
    ...refused(
      'a schedule that never opens',
      strategy({ schedule: '0 0 30 2 *', duration: '4h' }),
      'Invalid',
      'spec.updateStrategy.schedule',
    ),
    server: false,
  },
  refused(
    'a container twice',
    with_({ containerPolicies: [{ name: 'app' }, { name: 'app', mode: 'Off' }] }),
    'Duplicate',
    'spec.containerPolicies[1]',
  ),
];

export const optimizationCases: readonly ResourceCase[] = [...casesOf(optimizationPolicy), ...byRules];
export const recommendationCases: readonly ResourceCase[] = casesOf(workloadRecommendation);
