import { hasSameDefaults, type ObservedWorkload, type PolicyReading, readPodMark } from '@spotalis/core';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';
import type { Bypass } from './bypass.ts';
import type { WebhookProbe } from './probe.ts';
import type { SharedDefaults } from './shared-defaults.ts';

/** Each move asks on its own; this is for the reports, and for moves that wait for the webhook to come back. */
const ASK_MS = 10_000;

/** Asks the webhook now and then. Returns the way out. */
export function watchWebhook(probe: Pick<WebhookProbe, 'ask'>): () => void {
  void probe.ask();
  const timer = setInterval(() => void probe.ask(), ASK_MS);
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
