import type { OwnDecision } from '@spotalis/ledger';

/** How long a pod may stay unseen after its admission. One that is not there then was rejected by others. */
const UNSEEN_MS = 5_000;

export interface RememberedDecision extends OwnDecision {
  /** False when it was made without the ledger, whose counts then do not include it. */
  readonly inLedger: boolean;
}

interface Entry {
  readonly revision: string;
  readonly decision: RememberedDecision;
  readonly atMs: number;
}

/** What this process decided in the last seconds, whose pods a LIST may not show yet. */
export class OwnDecisions {
  readonly #byRevision = new Map<string, Map<string, Entry>>();
  /** Of all revisions in order of time, so that each addition can drop what is old and memory stays bounded. */
  readonly #byAge = new Set<Entry>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(revision: string, decision: RememberedDecision): void {
    this.#forgetOld();
    this.drop(revision, decision.token);
    const entry = { revision, decision, atMs: this.#now() };
    const tokens = this.#byRevision.get(revision) ?? new Map<string, Entry>();
    this.#byRevision.set(revision, tokens.set(decision.token, entry));
    this.#byAge.add(entry);
  }

  get(revision: string, token: string): RememberedDecision | undefined {
    this.#forgetOld();
    return this.#byRevision.get(revision)?.get(token)?.decision;
  }

  of(revision: string): readonly RememberedDecision[] {
    this.#forgetOld();
    return [...(this.#byRevision.get(revision)?.values() ?? [])].map(({ decision }) => decision);
  }

  drop(revision: string, token: string): void {
    const entry = this.#byRevision.get(revision)?.get(token);
    if (entry !== undefined) {
      this.#remove(entry);
    }
  }

  #forgetOld(): void {
    const since = this.#now() - UNSEEN_MS;
    for (const entry of this.#byAge) {
      if (entry.atMs >= since) {
        break;
      }
      this.#remove(entry);
    }
  }

  #remove(entry: Entry): void {
    this.#byAge.delete(entry);
    const tokens = this.#byRevision.get(entry.revision);
    tokens?.delete(entry.decision.token);
    if (tokens?.size === 0) {
      this.#byRevision.delete(entry.revision);
    }
  }
}
