import type { OwnDecision, Revision } from './ledger.ts';
import { YoungDecisions } from './young.ts';

interface Recent {
  readonly revision: Revision;
  /** The ledger that holds them all, as far as this process knows. */
  ledgerId: string;
  addedAtMs: number;
}

/** What this process decided a moment ago, to be told to a ledger that lost its memory meanwhile. */
export class RecentDecisions {
  readonly #keptMs: number;
  readonly #now: () => number;
  readonly #decisions: YoungDecisions;
  /** In order of time, by the last decision of each. */
  readonly #byLedger = new Map<string, Recent>();

  constructor(keptMs: number, now: () => number) {
    this.#keptMs = keptMs;
    this.#now = now;
    this.#decisions = new YoungDecisions(keptMs, now);
  }

  add(revision: Revision, ledgerId: string, decision: OwnDecision): void {
    if (this.#keptMs === 0) return;
    const { replicaSetUid } = revision;
    const recent = this.#byLedger.get(replicaSetUid) ?? { revision, ledgerId, addedAtMs: 0 };
    recent.addedAtMs = this.#now();
    this.#byLedger.delete(replicaSetUid);
    this.#byLedger.set(replicaSetUid, recent);
    this.#decisions.add(replicaSetUid, decision);
    // A store that does not answer is not looked at, and nothing else would drop them.
    this.dropOld();
  }

  remove({ replicaSetUid }: Revision, token: string): void {
    this.#decisions.remove(replicaSetUid, token);
  }

  forget({ replicaSetUid }: Revision): void {
    this.#byLedger.delete(replicaSetUid);
    this.#decisions.forget(replicaSetUid);
  }

  /** Those that the ledger of this id cannot know. */
  unknownTo({ replicaSetUid }: Revision, ledgerId: string): readonly OwnDecision[] {
    const recent = this.#byLedger.get(replicaSetUid);
    return recent === undefined || recent.ledgerId === ledgerId ? [] : this.#decisions.of(replicaSetUid);
  }

  announced({ replicaSetUid }: Revision, ledgerId: string): void {
    const recent = this.#byLedger.get(replicaSetUid);
    if (recent !== undefined) recent.ledgerId = ledgerId;
  }

  all(): readonly { revision: Revision; decisions: readonly OwnDecision[] }[] {
    return [...this.#byLedger.values()].map(({ revision }) => ({
      revision,
      decisions: this.#decisions.of(revision.replicaSetUid),
    }));
  }

  dropOld(): void {
    this.#decisions.dropOld();
    const oldest = this.#now() - this.#keptMs;
    for (const [ledger, { addedAtMs }] of this.#byLedger) {
      if (addedAtMs >= oldest) break;
      this.#byLedger.delete(ledger);
    }
  }

  /** How many are kept, also those that nobody would be told of any more. */
  get size(): number {
    return this.#decisions.size;
  }
}
