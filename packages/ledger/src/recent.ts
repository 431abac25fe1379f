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
  readonly decisions: Map<string, { readonly decision: OwnDecision; readonly atMs: number }>;
}

/** What this process decided a moment ago, to be told to a ledger that lost its memory meanwhile. */
export class RecentDecisions {
  readonly #keptMs: number;
  readonly #now: () => number;
  readonly #byLedger = new Map<string, Recent>();

  constructor(keptMs: number, now: () => number) {
    this.#keptMs = keptMs;
    this.#now = now;
  }

  add(revision: Revision, ledgerId: string, decision: OwnDecision): void {
    if (this.#keptMs === 0) return;
    let recent = this.#byLedger.get(revision.replicaSetUid);
    if (recent === undefined) {
      recent = { revision, ledgerId, decisions: new Map() };
      this.#byLedger.set(revision.replicaSetUid, recent);
    }
    recent.decisions.set(decision.token, { decision, atMs: this.#now() });
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
    for (const [ledger, recent] of this.#byLedger) {
      if (this.#young(recent).length === 0) this.#byLedger.delete(ledger);
    }
  }

  #young({ decisions }: Recent): readonly OwnDecision[] {
    const oldest = this.#now() - this.#keptMs;
    for (const [token, { atMs }] of decisions) {
      // In order of time: the first that is young ends it.
      if (atMs >= oldest) break;
      decisions.delete(token);
    }
    return [...decisions.values()].map(({ decision }) => decision);
  }
}
