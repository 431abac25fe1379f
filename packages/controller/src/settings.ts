import {
  type CapacityType,
  classifyNode,
  type DisruptionWindow,
  type Labels,
  managed,
  type NodeLabels,
  parseSchedule,
  type Placement,
  type PolicyDefaults,
  type RebalanceSettings,
  type Scope,
} from '@spotalis/core';
import { type Configuration, ConfigurationError } from '@spotalis/runtime';
import type { Managed } from './observe/cluster.ts';

/** The one rule of what is ours, with the configured scope. */
export function managedIn(scope: Scope): Managed {
  return (namespace, workload) =>
    managed(
      {
        namespace: workload.metadata.namespace ?? '',
        namespaceLabels: namespace?.labels ?? {},
        workloadLabels: workload.labels,
      },
      scope,
    ).managed;
}

/** A node's type by its labels; undefined for one that no configured label knows. */
export function classifierOf(nodeLabels: NodeLabels): (labels: Labels) => CapacityType | undefined {
  return (labels) => {
    const type = classifyNode(labels, nodeLabels);
    return type === 'unknown' ? undefined : type;
  };
}

/** When moves may start anywhere; null: always. */
function windowOf({
  schedule,
  duration,
}: Pick<Configuration['rebalance'], 'schedule' | 'duration'>): DisruptionWindow | null {
  if (schedule === undefined || duration === undefined) return null;
  const parsed = parseSchedule(schedule);
  if (parsed.ok) return { schedule: parsed.value, durationMs: duration };
  const message = `${JSON.stringify(schedule)} is not ${parsed.expected}; for example 0 22 * * *`;
  throw new ConfigurationError([{ key: 'rebalance.schedule', message }]);
}

/** What decisions go by, worked out again only when the values in force are other ones. */
export function rebalanceSettings(
  placement: Placement,
  current: () => Configuration,
  onInvalid: (error: ConfigurationError) => void,
): () => RebalanceSettings {
  // One that is wrong from the start stops the start.
  let window = windowOf(current().rebalance);
  let read: Configuration | undefined;
  let settings: RebalanceSettings | undefined;
  return () => {
    const values = current();
    if (values === read && settings !== undefined) return settings;
    const { rebalance } = values;
    try {
      window = windowOf(rebalance);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      onInvalid(error);
    }
    const { maxRemovalsPerMinute, backoff } = values.fallback;
    const { cooldown, minPodAge, allowSingleReplica, maxMovesPerMinute, maxInFlight } = rebalance;
    read = values;
    const next: RebalanceSettings = {
      readOnly: values.readOnlyMode,
      window,
      cooldownMs: cooldown,
      minPodAgeMs: minPodAge,
      allowSingleReplica,
      maxMovesPerMinute,
      maxInFlight,
      placement,
      fallback: {
        maxRemovalsPerMinute,
        backoff: { initialMs: backoff.initial, maxMs: backoff.max },
      },
    };
    settings = next;
    return next;
  };
}

/** What holds where neither a workload nor its namespace says otherwise. */
export const policyDefaultsOf = ({ defaults, fallback }: Configuration): PolicyDefaults => ({
  ...defaults,
  spotFallbackAfter: `${fallback.after}ms`,
});
