import {
  type Configuration,
  type ObservedWorkload,
  type Placement,
  policyDefaults,
  policyIn,
  type PolicyReading,
  readClusterWindow,
  rebalanceSettings,
  type RebalanceSettings,
} from '@spotalis/core';
import { accepted } from '@spotalis/runtime';
import type { Cluster } from '../../kernel/cluster/cluster.ts';

/** What decisions go by, worked out again only when the values in force are other ones. */
export function decisionSettings(
  placement: Placement,
  current: () => Configuration,
): () => RebalanceSettings {
  let read: Configuration | undefined;
  let settings: RebalanceSettings | undefined;
  return () => {
    const values = current();
    if (values === read && settings !== undefined) return settings;
    const window = accepted(readClusterWindow(values.rebalance));
    read = values;
    settings = rebalanceSettings(values, { window, placement });
    return settings;
  };
}

/** What holds for a workload as it, its Namespace and the configuration are now. */
export const policiesOf =
  (cluster: Pick<Cluster, 'namespaces'>, live: () => Configuration) =>
  (workload: ObservedWorkload): PolicyReading =>
    policyIn(cluster, workload, policyDefaults(live()));

/**
 * By what pods of a workload are admitted; null where they are left alone, so that they say nothing about the webhook.
 */
export const admissionsOf =
  (
    cluster: Pick<Cluster, 'workloadByUid' | 'isManaged'>,
    policyOf: (workload: ObservedWorkload) => PolicyReading,
    isReadOnly: () => boolean,
  ) =>
  (workloadUid: string): PolicyReading | null => {
    const workload = cluster.workloadByUid(workloadUid);
    if (workload === undefined || !cluster.isManaged(workload) || isReadOnly()) return null;
    const policy = policyOf(workload);
    return policy.kind === 'none' ? null : policy;
  };
