import {
  type Deferral,
  type ObservedWorkload,
  type RebalanceSettings,
  type RebalanceTrace,
  removalFor,
  type StuckReference,
  type Verdict,
} from '@spotalis/core';
import { LedgerUnavailable } from '@spotalis/ledger';
import { askerOf, subjectOfWorkload } from '../../../kernel/cluster/subject.ts';
import type { Executor, Removed } from '../../../kernel/disruption/executor.ts';
import type { WebhookProbe } from '../webhook/probe.ts';
import type { Holds } from '../../../kernel/disruption/holds.ts';
import type { LedgerReading } from '../rebalance/snapshot.ts';
import type { DroughtNarrator } from './narrator.ts';
import type { Droughts } from './droughts.ts';

type Bridge = Extract<Verdict, { kind: 'bridge' }>;

/** Somebody was quicker, or something cannot be had just now. */
const SOON_MS = 500;
export interface BridgerParts {
  readonly droughts: Pick<Droughts, 'write'>;
  readonly executor: Pick<Executor, 'remove'>;
  readonly probe: Pick<WebhookProbe, 'ask'>;
  readonly holds: Holds;
  readonly narrator: DroughtNarrator;
  readonly settings: () => RebalanceSettings;
  /** Whether anything may be done about it at this moment. */
  readonly mayActOn: (workload: ObservedWorkload) => boolean;
  readonly now: () => number;
}

export interface Bridged {
  /** The decision as it was carried out. */
  readonly trace: RebalanceTrace;
  readonly againInMs: number;
  /** What keeps all of it from being carried out. */
  readonly deferral: Deferral | null;
}

/** Carries out what was decided about a drought: first the breaker, so that replacements are admitted by it. */
export class Bridger {
  readonly #parts: BridgerParts;

  constructor(parts: BridgerParts) {
    this.#parts = parts;
  }

  async bridge(
    workload: ObservedWorkload,
    trace: RebalanceTrace,
    { next, remove }: Bridge,
    { breaker }: LedgerReading,
  ): Promise<Bridged> {
    const { droughts, settings, mayActOn, now, probe, narrator } = this.#parts;
    const again = (inMs: number): Bridged => ({ trace, againInMs: inMs, deferral: null });
    if (breaker === null || !mayActOn(workload)) return again(SOON_MS);
    // A replacement that admission does not see is no substitute.
    if (remove.length > 0 && (await probe.ask()).kind !== 'serving') return again(SOON_MS);
    if (!mayActOn(workload)) return again(SOON_MS);
    if (next !== null) {
      try {
        if (!(await droughts.write(workload, next, breaker, settings().placement, now())))
          return again(SOON_MS);
      } catch (error) {
        if (!(error instanceof LedgerUnavailable)) throw error;
        return again(SOON_MS);
      }
      narrator.changed(workload, trace);
    }
    const held = this.#parts.holds.of(workload.metadata.uid, now());
    // What a PDB refused was a move; these pods have none to fear.
    if (held?.reason === 'EvictionForbidden' || held?.reason === 'EvictionFailed')
      return again(held.untilMs - now());
    if (remove.length === 0) return again(SOON_MS);
    const { count, deferral } = await this.#remove(workload, remove);
    if (next === null && count === 0 && deferral !== null) return { ...again(SOON_MS), deferral };
    return trace.reason === 'StuckRemoved'
      ? { ...again(SOON_MS), trace: { ...trace, facts: { ...trace.facts, removed: count } } }
      : again(SOON_MS);
  }

  #remove(workload: ObservedWorkload, pods: readonly StuckReference[]): Promise<Removed> {
    const { executor, mayActOn, narrator, now } = this.#parts;
    const { namespace = '', uid } = workload.metadata;
    const subject = askerOf(subjectOfWorkload(workload));
    const asked = removalFor({ subject, disrupts: { uid, namespace }, nowMs: now() }, pods);
    const sinceMs = new Map(pods.map((pod) => [pod.uid, pod.sinceMs]));
    return executor.remove(
      asked,
      () => mayActOn(workload),
      (pod) => narrator.removed(workload, { ...pod, sinceMs: sinceMs.get(pod.uid) ?? now() }, now()),
    );
  }
}
