import { isEmbedded, type Ledger, ledgerMetrics, openLedger, redisSettings } from '@spotalis/ledger';
import { now, wallMs } from '../../../kernel/clocks.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import { Observation } from './observation.ts';

/** What people should know of a ledger that nobody else can ask. */
export const EMBEDDED = 'inside the webhook, so that pods that wait for spot capacity get no substitutes';

/** Neither, where the ledger is inside the webhook, which observes pods for itself. */
export interface ObservedLedger {
  readonly ledger: Ledger | undefined;
  readonly observation: Observation | undefined;
}

/** A ledger, and what keeps it true to the cluster in every replica. */
export function openObservedLedger(
  kernel: Kernel,
  /** What the ledger holds of a ReplicaSet has changed. */
  onLedgerChange: (replicaSetUid: string) => void,
): ObservedLedger {
  const { values, cluster, client, workers, reflectors, isReadOnly, isLeader, reloads, metrics, logger } =
    kernel;
  if (isEmbedded(values.redis)) {
    logger.warn(`the ledger is ${EMBEDDED}`);
    return { ledger: undefined, observation: undefined };
  }
  const measured = ledgerMetrics(metrics);
  const ledger = openLedger({
    redis: redisSettings(values.redis),
    now,
    wallMs,
    observer: {
      operation: measured.operation,
      mode(mode, code) {
        measured.mode(mode);
        logger.info('ledger', { mode, code });
      },
    },
  });
  const observation = new Observation({
    cluster,
    ledger,
    client,
    workers,
    mayWrite: () => !isReadOnly(),
    isLeader,
    podsAreFollowed: reflectors.podsAreFollowed,
    onLedgerChange,
    logger,
    now,
    random: Math.random,
  });
  reloads.follow(({ readOnlyMode }, keys) => {
    if (keys.includes('readOnlyMode') && !readOnlyMode) observation.writesAllowed();
  });
  return { ledger, observation };
}
