import type { OwnDecision, Revision } from './ledger.ts';

interface Untold {
  readonly revision: Revision;
  readonly decisions: Map<string, { readonly decision: OwnDecision; readonly atMs: number }>;
}

/** Decisions that this process made alone, until the ledger of their revision has been told of them. */
export class UntoldDecisions {
  readonly #keptMs: number;
  readonly #now: () => number;
  readonly #byLedger = new Map<string, Untold>();

  constructor(keptMs: number, now: () => number) {
    this.#keptMs = keptMs;
    this.#now = now;
  }

  add(revision: Revision, decision: OwnDecision): void {
    const { replicaSetUid } = revision;
    const untold = this.#byLedger.get(replicaSetUid) ?? { revision, decisions: new Map() };
    untold.decisions.set(decision.token, { decision, atMs: this.#now() });
    this.#byLedger.set(replicaSetUid, untold);
  }

  of({ replicaSetUid }: Revision): readonly OwnDecision[] {
    const untold = this.#byLedger.get(replicaSetUid);
    return untold === undefined ? [] : [...untold.decisions.values()].map(({ decision }) => decision);
  }

  remove({ replicaSetUid }: Revision, tokens: Iterable<string>): void {
    const untold = this.#byLedger.get(replicaSetUid);
    if (untold === undefined) return;
    for (const token of tokens) untold.decisions.delete(token);
    if (untold.decisions.size === 0) this.#byLedger.delete(replicaSetUid);
  }

  revisions(): readonly Revision[] {
    return [...this.#byLedger.values()].map(({ revision }) => revision);
  }

  forget({ replicaSetUid }: Revision): void {
    this.#byLedger.delete(replicaSetUid);
  }

  /** Their pods are old enough to be listed. Returns the ledgers that will not be told of some of them. */
  dropOld(): readonly string[] {
    const oldest = this.#now() - this.#keptMs;
    const dropped: string[] = [];
    for (const [ledger, { revision, decisions }] of this.#byLedger) {
      const old = [...decisions].filter(([, { atMs }]) => atMs < oldest).map(([token]) => token);
      if (old.length === 0) continue;
      dropped.push(ledger);
      this.remove(revision, old);
    }
    return dropped;
  }
}
