import type {
  LedgerState,
  PolicyReading,
  RebalanceSettings,
  RebalanceSnapshot,
  TypeCounts,
  WebhookState,
  WorkloadPod,
  WorkloadView,
} from '@spotalis/core';
import type { Flights } from '../act/flights.ts';
import type { Cluster } from '../observe/cluster.ts';
import type { ObservedPod } from '../observe/pod.ts';
import type { Rooms } from '../observe/rooms.ts';
import { reachOf } from '../observe/volume.ts';
import type { ObservedWorkload } from '../observe/workload.ts';
import type { Changes } from './changes.ts';

/** What the ledgers of a workload hold, by the UID of the ReplicaSet; or why nobody can say. */
export type LedgerReading = LedgerState & { readonly counts: ReadonlyMap<string, TypeCounts> };

export interface SnapshotSources {
  readonly cluster: Cluster;
  readonly rooms: Rooms;
  readonly changes: Changes;
  readonly flights: Flights;
  readonly settings: () => RebalanceSettings;
  readonly webhook: () => WebhookState;
}

/** Everything that one decision rests on, from the stores of one moment. The workload is managed. */
export function takeSnapshot(
  sources: SnapshotSources,
  workload: ObservedWorkload,
  policy: PolicyReading,
  ledger: LedgerReading,
  nowMs: number,
): RebalanceSnapshot {
  const { cluster, flights, rooms } = sources;
  const settings = sources.settings();
  const { uid, namespace = '' } = workload.metadata;
  return {
    managed: { managed: true },
    policy,
    workload: viewOf(sources, workload, policy, ledger),
    pods: cluster.podsOf(workload).map((pod) => podOf(pod, cluster)),
    pdbs: cluster.pdbs.by('namespace', namespace).map(({ view }) => view),
    history: flights.historyOf(uid),
    budgets: flights.use({ workloadUid: uid, namespace }, settings.maxMovesPerMinute, nowMs),
    nodes: rooms.views(flights.promised()),
    ledger,
    webhook: sources.webhook(),
    settings,
  };
}

function viewOf(
  { cluster, changes }: SnapshotSources,
  workload: ObservedWorkload,
  policy: PolicyReading,
  { counts }: LedgerReading,
): WorkloadView {
  const { metadata, replicas, rollout } = workload;
  const { name, namespace = '', uid } = metadata;
  const { deleting, generation, observedGeneration, updatedReplicas, availableReplicas } = workload;
  const common = {
    name,
    namespace,
    uid,
    deleting,
    generation,
    observedGeneration,
    replicas,
    updatedReplicas,
    availableReplicas,
    ...changes.note(uid, policy.kind === 'none' ? undefined : policy.numbers, replicas),
  };
  if (rollout.kind === 'StatefulSet') return { ...common, ...rollout };
  return {
    ...common,
    ...rollout,
    revisions: cluster.replicaSetsOf(workload).map((replicaSet) => ({
      uid: replicaSet.metadata.uid,
      name: replicaSet.metadata.name,
      replicas: replicaSet.replicas,
      template: replicaSet.template,
      ledger: counts.get(replicaSet.metadata.uid) ?? null,
    })),
  };
}

function podOf(pod: ObservedPod, cluster: Cluster): WorkloadPod {
  const { metadata, controller, nodeName, claims, ...rest } = pod;
  const { uid, name, namespace = '', resourceVersion } = metadata;
  return {
    uid,
    name,
    resourceVersion,
    controller: controller ?? null,
    nodeName: nodeName ?? null,
    labels: rest.labels,
    annotations: rest.annotations,
    phase: rest.phase,
    ready: rest.ready,
    terminating: rest.terminating,
    createdAtMs: rest.createdAtMs,
    startedAtMs: rest.startedAtMs,
    priority: rest.priority,
    volumes: reachOf(namespace, claims, cluster),
  };
}
