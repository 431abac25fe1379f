import { hostname } from 'node:os';
import type { Configuration } from '@spotalis/core';
import type { ApiClient } from '@spotalis/kube';
import type { Logger, Metrics } from '@spotalis/runtime';
import { wallMs } from '../clocks.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { placeholderMetrics } from './metrics.ts';
import { deploymentOfPod } from './owner.ts';
import { Placeholders } from './placeholders.ts';

/** Looks at a workload that may be late before it counts as one that nobody looks at. */
const MISSED_LOOKS = 3;

export interface PlaceholderNeeds {
  readonly values: Configuration;
  readonly live: () => Configuration;
  readonly cluster: Cluster;
  readonly client: ApiClient;
  readonly ownNamespace: string;
  readonly leaseNamespace: string;
  readonly mayWrite: () => boolean;
  readonly isReadOnly: () => boolean;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export function openPlaceholders(needs: PlaceholderNeeds): Placeholders {
  const { values, live, cluster, metrics, ownNamespace, leaseNamespace, ...shared } = needs;
  const { fallback, rebalance, controller } = values;
  return new Placeholders({
    ...shared,
    cluster,
    namespace: ownNamespace,
    settings: {
      enabled: fallback.probe === 'placeholder',
      image: fallback.placeholderImage,
      priorityClass: fallback.placeholderPriorityClass,
      max: fallback.maxPlaceholders,
      waitMs: fallback.placeholderTimeout,
      ageMs: fallback.placeholderTimeout + rebalance.moveTimeout,
      wishMs: MISSED_LOOKS * controller.resyncPeriod,
    },
    backoff() {
      const { initial, max } = live().fallback.backoff;
      return { initialMs: initial, maxMs: max };
    },
    owner: () => deploymentOfPod(cluster, leaseNamespace, hostname()),
    metrics: placeholderMetrics(metrics),
    now: wallMs,
  });
}
