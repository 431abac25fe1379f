import type { CapacityType } from '@spotalis/core';
import type { Revision } from './ledger.ts';

export interface OwnDecision {
  readonly token: string;
  readonly type: CapacityType;
  readonly rank: number;
  readonly substitute: boolean;
}

interface Recent {
  readonly revision: Revision;
  /** The ledger that holds them all, as far as this process knows. */
  ledgerId: string;
  addedAtMs: number;
  readonly decisions: Map<string, { readonly decision: OwnDecision; readonly atMs: number }>;
}

/** What this process decided a moment ago, to be told to a ledger that lost its memory meanwhile. */
export class RecentDecisions {
  readonly #keptMs: number;
  readonly #now: () => number;
  /** In order of time, by the last decision of each. */
  readonly #byLedger = new Map<string, Recent>();

  constructor(keptMs: number, now: () => number) {
    this.#keptMs = keptMs;
    this.#now = now;
  }

  add(revision: Revision, ledgerId: string, decision: OwnDecision): void {
    if (this.#keptMs === 0) return;
    const { replicaSetUid } = revision;
    const addedAtMs = this.#now();
    const recent = this.#byLedger.get(replicaSetUid) ?? {
      revision,
      ledgerId,
      addedAtMs,
      decisions: new Map(),
    };
    recent.addedAtMs = addedAtMs;
    recent.decisions.delete(decision.token);
    recent.decisions.set(decision.token, { decision, atMs: addedAtMs });
    this.#byLedger.delete(replicaSetUid);
    this.#byLedger.set(replicaSetUid, recent);
    // A store that does not answer is not looked at, and nothing else would drop them.
    this.#dropOldOf(recent);
    this.dropOld();
  }

  remove({ replicaSetUid }: Revision, token: string): void {
    this.#byLedger.get(replicaSetUid)?.decisions.delete(token);
  }

  forget({ replicaSetUid }: Revision): void {
    this.#byLedger.delete(replicaSetUid);
  }

  /** Those that the ledger of this id cannot know. */
  unknownTo({ replicaSetUid }: Revision, ledgerId: string): readonly OwnDecision[] {
    const recent = this.#byLedger.get(replicaSetUid);
    return recent === undefined || recent.ledgerId === ledgerId ? [] : this.#young(recent);
  }

  announced({ replicaSetUid }: Revision, ledgerId: string): void {
    const recent = this.#byLedger.get(replicaSetUid);
    if (recent !== undefined) recent.ledgerId = ledgerId;
  }

  all(): readonly { revision: Revision; decisions: readonly OwnDecision[] }[] {
    return [...this.#byLedger.values()].map((recent) => ({
      revision: recent.revision,
      decisions: this.#young(recent),
    }));
  }

  dropOld(): void {
    const oldest = this.#oldestMs();
    for (const [ledger, { addedAtMs }] of this.#byLedger) {
      if (addedAtMs >= oldest) break;
      this.#byLedger.delete(ledger);
    }
  }

  /** How many are kept, also those that nobody would be told of any more. */
  get size(): number {
    return [...this.#byLedger.values()].reduce((sum, { decisions }) => sum + decisions.size, 0);
  }

  #young(recent: Recent): readonly OwnDecision[] {
    this.#dropOldOf(recent);
    return [...recent.decisions.values()].map(({ decision }) => decision);
  }

  #dropOldOf({ decisions }: Recent): void {
    const oldest = this.#oldestMs();
    for (const [token, { atMs }] of decisions) {
      // In order of time: the first that is young ends it.
      if (atMs >= oldest) break;
      decisions.delete(token);
    }
  }

  #oldestMs(): number {
    return this.#now() - this.#keptMs;
  }
}
