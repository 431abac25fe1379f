import type { ObservedWorkload, RebalanceSettings, StuckReference } from '@spotalis/core';
import { LedgerUnavailable } from '@spotalis/ledger';
import type { Holds } from '../../../kernel/disruption/holds.ts';
import type { Applied } from '../../../kernel/module.ts';
import type { Effect } from '../moves/decision.ts';
import type { Reading } from '../moves/rebalancer.ts';
import type { WebhookProbe } from '../webhook/probe.ts';
import type { Droughts } from './droughts.ts';
import type { DroughtNarrator } from './narrator.ts';

/** Somebody was quicker, or something cannot be had just now. */
const SOON_MS = 500;

export interface BridgerParts {
  readonly droughts: Pick<Droughts, 'write'>;
  readonly probe: Pick<WebhookProbe, 'ask'>;
  readonly holds: Pick<Holds, 'of'>;
  readonly narrator: DroughtNarrator;
  readonly settings: () => RebalanceSettings;
  readonly now: () => number;
}

/** Carries out what was decided about a drought: first the breaker, so that replacements are admitted by it. */
export class Bridger {
  readonly #parts: BridgerParts;

  constructor(parts: BridgerParts) {
    this.#parts = parts;
  }

  /** Writes the breaker, and says whether pods may be removed after that. */
  async bridge(
    { workload, ledger: { breaker } }: Pick<Reading, 'workload' | 'ledger'>,
    { bridge: { next, remove }, trace }: Extract<Effect, { kind: 'bridge' }>,
    mayAct: () => boolean,
  ): Promise<Applied> {
    const { droughts, settings, now, probe, narrator, holds } = this.#parts;
    const later = (againInMs: number): Applied => ({ isHeld: true, againInMs });
    if (breaker === null || !mayAct()) return later(SOON_MS);
    // A replacement that admission does not see is no substitute.
    if (remove.length > 0 && (await probe.ask()).kind !== 'serving') return later(SOON_MS);
    if (!mayAct()) return later(SOON_MS);
    if (next !== null) {
      try {
        if (!(await droughts.write(workload, next, breaker, settings().placement, now())))
          return later(SOON_MS);
      } catch (error) {
        if (!(error instanceof LedgerUnavailable)) throw error;
        return later(SOON_MS);
      }
      narrator.changed(workload, trace);
    }
    const held = holds.of(workload.metadata.uid, now());
    // What a PDB refused was a move; these pods have none to fear.
    if (held?.reason === 'EvictionForbidden' || held?.reason === 'EvictionFailed')
      return later(held.untilMs - now());
    return remove.length === 0 ? later(SOON_MS) : {};
  }

  removed(workload: ObservedWorkload, pod: StuckReference): void {
    const { narrator, now } = this.#parts;
    narrator.removed(workload, pod, now());
  }
}
