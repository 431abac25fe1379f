import type {
  ObservedWorkload,
  RebalanceSettings,
  RebalanceTrace,
  StuckReference,
  Verdict,
} from '@spotalis/core';
import { LedgerUnavailable } from '@spotalis/ledger';
import type { Logger } from '@spotalis/runtime';
import type { Evictor } from '../kernel/disruption/evictor.ts';
import type { WebhookProbe } from '../gate/webhook.ts';
import type { Holds } from '../kernel/disruption/holds.ts';
import type { LedgerReading } from '../rebalance/snapshot.ts';
import type { DroughtNarrator } from '../report/droughts.ts';
import type { Droughts } from './droughts.ts';

type Bridge = Extract<Verdict, { kind: 'bridge' }>;

/** Somebody was quicker, or something cannot be had just now. */
const SOON_MS = 500;
/** Removals at once: each is a read and a write, and a burst has hundreds. */
const AT_ONCE = 10;

export interface BridgerParts {
  readonly droughts: Pick<Droughts, 'write' | 'takeRemoval' | 'giveBackRemoval'>;
  readonly evictor: Pick<Evictor, 'removeUnscheduled'>;
  readonly probe: Pick<WebhookProbe, 'ask'>;
  readonly holds: Holds;
  readonly narrator: DroughtNarrator;
  readonly settings: () => RebalanceSettings;
  /** Whether anything may be done about it at this moment. */
  readonly mayActOn: (workload: ObservedWorkload) => boolean;
  readonly now: () => number;
  readonly logger: Logger;
}

/** Carries out what was decided about a drought: first the breaker, so that replacements are admitted by it. */
export class Bridger {
  readonly #parts: BridgerParts;

  constructor(parts: BridgerParts) {
    this.#parts = parts;
  }

  /** Returns the milliseconds after which to look again. Never throws. */
  async bridge(
    workload: ObservedWorkload,
    trace: RebalanceTrace,
    { next, remove }: Bridge,
    { breaker }: LedgerReading,
  ): Promise<number> {
    const { droughts, settings, mayActOn, now, probe, narrator } = this.#parts;
    if (breaker === null || !mayActOn(workload)) return SOON_MS;
    // A replacement that admission does not see is no substitute.
    if (remove.length > 0 && (await probe.ask()).kind !== 'serving') return SOON_MS;
    if (!mayActOn(workload)) return SOON_MS;
    if (next !== null) {
      try {
        if (!(await droughts.write(workload, next, breaker, settings().placement, now()))) return SOON_MS;
      } catch (error) {
        if (!(error instanceof LedgerUnavailable)) throw error;
        return SOON_MS;
      }
      narrator.changed(workload, trace);
    }
    const held = this.#parts.holds.of(workload.metadata.uid, now());
    // What a PDB refused was a move; these pods have none to fear.
    if (held?.reason === 'EvictionForbidden' || held?.reason === 'EvictionFailed')
      return held.untilMs - now();
    for (let start = 0; start < remove.length && mayActOn(workload); start += AT_ONCE) {
      await Promise.all(remove.slice(start, start + AT_ONCE).map((pod) => this.#remove(workload, pod)));
    }
    return SOON_MS;
  }

  async #remove(workload: ObservedWorkload, pod: StuckReference): Promise<void> {
    const { evictor, droughts, settings, holds, narrator, now, logger } = this.#parts;
    const { namespace = '', uid } = workload.metadata;
    const askedAtMs = now();
    if (!droughts.takeRemoval(settings().fallback.maxRemovalsPerMinute, askedAtMs)) return;
    const outcome = await evictor.removeUnscheduled(namespace, pod);
    if (outcome.kind === 'evicted') {
      narrator.removed(workload, pod, now());
      return;
    }
    // Without an answer it may have been carried out.
    if (outcome.kind !== 'error') droughts.giveBackRemoval(askedAtMs);
    switch (outcome.kind) {
      case 'gone':
      case 'stale':
      case 'fenced':
      case 'conflict':
        return;
      case 'blocked':
      case 'tooManyBudgets':
        // It got a node meanwhile.
        return;
      case 'unread':
      case 'forbidden':
      case 'error':
        holds.refused(uid, outcome, false, now());
        logger.warn('stuck pod not removed', { pod: pod.name, outcome });
        return;
      default:
        return outcome satisfies never;
    }
  }
}
