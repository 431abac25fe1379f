import { hasSameDefaults, type ObservedWorkload, type PolicyReading, readPodMark } from '@spotalis/core';
import type { Executor } from '../../kernel/disruption/executor.ts';
import type { Bypass } from './webhook/bypass.ts';
import type { SharedDefaults } from './webhook/shared-defaults.ts';
import type { WebhookProbe } from './webhook/probe.ts';
import type { Cluster } from '../../kernel/cluster/cluster.ts';
import type { Holds } from '../../kernel/disruption/holds.ts';

/** Each move asks on its own; this is for the reports, and for moves that wait for the webhook to come back. */
const ASK_MS = 10_000;

/** Asks the webhook now and then. Returns the way out. */
export function watchWebhook(probe: Pick<WebhookProbe, 'ask'>): () => void {
  void probe.ask();
  const timer = setInterval(() => void probe.ask(), ASK_MS);
  return () => clearInterval(timer);
}

/** Ends disruptions of workloads that nobody looks at, too. Returns the way out. */
export function followDisruptions(executor: Pick<Executor, 'followAll'>): () => void {
  const timer = setInterval(() => executor.followAll(), ASK_MS);
  return () => clearInterval(timer);
}

export interface Admissions {
  readonly cluster: Cluster;
  readonly bypass: Pick<Bypass, 'cameThrough'>;
  readonly sharedDefaults: Pick<SharedDefaults, 'cameThrough' | 'state'>;
  readonly policyOf: (workload: ObservedWorkload) => PolicyReading;
}

/** Pods that come through the webhook say that it is in the way of others too, and by what defaults. Returns the way out. */
export function followAdmissions(
  { cluster, bypass, sharedDefaults, policyOf }: Admissions,
  tryAgain: () => void,
): () => void {
  return cluster.pods.subscribe((change) => {
    if (change.type !== 'added' || change.initial || change.object.reservation === undefined) return;
    const { annotations, createdAtMs } = change.object;
    const home = cluster.homeOf(change.object);
    if (home === undefined || !cluster.isManaged(home.workload)) return;
    const isThrough = bypass.cameThrough(createdAtMs);
    const hasDefaults =
      sharedDefaults.state !== null &&
      hasSameDefaults(policyOf(home.workload), readPodMark(annotations).numbers) === true &&
      sharedDefaults.cameThrough(createdAtMs);
    if (isThrough || hasDefaults) tryAgain();
  });
}

/** What the API server refused because of PDBs may be allowed when one of them has changed. Returns the way out. */
export function liftHolds(cluster: Cluster, holds: Pick<Holds, 'lift'>): () => void {
  return cluster.pdbs.subscribe((change) => {
    const isNews =
      change.type !== 'updated' || change.previous.view.generation !== change.object.view.generation;
    if (!isNews) return;
    for (const { metadata } of cluster.workloadsIn(change.object.metadata.namespace ?? '')) {
      holds.lift(metadata.uid);
    }
  });
}
