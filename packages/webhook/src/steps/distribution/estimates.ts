import type { PodCounts } from '@spotalis/core';
import { type OwnDecision, YoungDecisions } from '@spotalis/ledger';

/** Revisions remembered. A forgotten one gets on-demand while neither the ledger nor a LIST answers. */
const REVISIONS = 5_000;

/** How long a pod may stay unseen after its admission. Later, another admission plugin has rejected it. */
const UNSEEN_MS = 5_000;

export interface Estimate {
  readonly counts: PodCounts;
  /** `spec.replicas` as last read; 0 when it never was. */
  readonly replicas: number;
}

interface Known {
  counts: PodCounts | undefined;
  /** The ledger's counts hold its decisions; a LIST holds only pods that exist. */
  from: 'ledger' | 'list';
  countedAtMs: number;
  replicas: number;
}

/** What this process knows of each revision's pods, for use while the ledger is late or away. */
export class Estimates {
  readonly #known = new Map<string, Known>();
  /** Decisions whose pods a LIST may not show yet: those that the ledger's counts hold, and the others. */
  readonly #inLedger: YoungDecisions;
  readonly #alone: YoungDecisions;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
    this.#inLedger = new YoungDecisions(UNSEEN_MS, now);
    this.#alone = new YoungDecisions(UNSEEN_MS, now);
  }

  get size(): number {
    return this.#known.size;
  }

  /** The ledger decided; these are its counts with that decision in them. */
  ledgerSaid(revision: string, counts: PodCounts, decision: OwnDecision): void {
    const known = this.#open(revision);
    known.counts = counts;
    known.from = 'ledger';
    known.countedAtMs = this.#now();
    this.#alone.remove(revision, decision.token);
    this.#inLedger.add(revision, decision);
  }

  /** These pods exist. Their decisions are forgotten. */
  listSaid(revision: string, counts: PodCounts, tokens: Iterable<string>): void {
    const known = this.#open(revision);
    known.counts = counts;
    known.from = 'list';
    known.countedAtMs = this.#now();
    for (const token of tokens) {
      this.#inLedger.remove(revision, token);
      this.#alone.remove(revision, token);
    }
  }

  replicasRead(revision: string, replicas: number): void {
    this.#open(revision).replicas = replicas;
  }

  decidedAlone(revision: string, decision: OwnDecision): void {
    this.#inLedger.remove(revision, decision.token);
    this.#alone.add(revision, decision);
  }

  /** A decision of this process in the last seconds, to repeat the same answer. */
  own(revision: string, token: string): OwnDecision | undefined {
    return this.#inLedger.get(revision, token) ?? this.#alone.get(revision, token);
  }

  /** Time since the ledger or a LIST counted the revision's pods; infinite when neither did. */
  ageMs(revision: string): number {
    return this.#now() - (this.#known.get(revision)?.countedAtMs ?? Number.NEGATIVE_INFINITY);
  }

  /** Undefined when this revision's pods were never counted. */
  of(revision: string): Estimate | undefined {
    const known = this.#known.get(revision);
    if (known?.counts === undefined) {
      return undefined;
    }
    const counts = { ...known.counts };
    const unseen = known.from === 'list' ? [this.#inLedger, this.#alone] : [this.#alone];
    for (const { type } of unseen.flatMap((decisions) => decisions.of(revision))) {
      counts[type === 'spot' ? 'spot' : 'onDemand'] += 1;
    }
    return { counts, replicas: known.replicas };
  }

  /** Moves the revision to the end of the order in which they are forgotten. */
  #open(revision: string): Known {
    const known = this.#known.get(revision) ?? {
      counts: undefined,
      from: 'list',
      countedAtMs: Number.NEGATIVE_INFINITY,
      replicas: 0,
    };
    this.#known.delete(revision);
    this.#known.set(revision, known);
    if (this.#known.size > REVISIONS) {
      const [oldest = revision] = this.#known.keys();
      this.#known.delete(oldest);
    }
    return known;
  }
}
