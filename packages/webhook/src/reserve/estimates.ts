import type { TypeCounts } from '@spotalis/core';
import type { OwnDecision } from '@spotalis/ledger';
import { OwnDecisions } from './own.ts';

/** Revisions remembered. One forgotten is answered on-demand while neither ledger nor LIST is to be had. */
const REVISIONS = 5_000;

export interface Estimate {
  readonly counts: TypeCounts;
  /** `spec.replicas` as last read; 0 when it never was. */
  readonly replicas: number;
}

interface Known {
  counts: TypeCounts | undefined;
  /** The ledger's counts hold its decisions; a LIST holds only pods that exist. */
  from: 'ledger' | 'list';
  countedAtMs: number;
  replicas: number;
}

/** What this process knows of each revision's pods by itself, for the time when the ledger cannot say. */
export class Estimates {
  readonly #known = new Map<string, Known>();
  readonly #own: OwnDecisions;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
    this.#own = new OwnDecisions(now);
  }

  get size(): number {
    return this.#known.size;
  }

  /** The ledger decided; these are its counts with that decision in them. */
  ledgerSaid(revision: string, counts: TypeCounts, decision: OwnDecision): void {
    const known = this.#open(revision);
    known.counts = counts;
    known.from = 'ledger';
    known.countedAtMs = this.#now();
    this.#own.add(revision, { ...decision, inLedger: true });
  }

  /** These pods exist. A decision that is among them needs no remembering. */
  listSaid(revision: string, counts: TypeCounts, tokens: Iterable<string>): void {
    const known = this.#open(revision);
    known.counts = counts;
    known.from = 'list';
    known.countedAtMs = this.#now();
    for (const token of tokens) {
      this.#own.drop(revision, token);
    }
  }

  replicasRead(revision: string, replicas: number): void {
    this.#open(revision).replicas = replicas;
  }

  decidedAlone(revision: string, decision: OwnDecision): void {
    this.#own.add(revision, { ...decision, inLedger: false });
  }

  /** A decision of this process in the last seconds, for an answer that has to be given twice. */
  own(revision: string, token: string): OwnDecision | undefined {
    return this.#own.get(revision, token);
  }

  /** Since the revision's pods were counted, by the ledger or a LIST; infinite when they never were. */
  ageMs(revision: string): number {
    return this.#now() - (this.#known.get(revision)?.countedAtMs ?? Number.NEGATIVE_INFINITY);
  }

  /** Undefined when this revision's pods were never counted. */
  of(revision: string): Estimate | undefined {
    const known = this.#known.get(revision);
    if (known?.counts === undefined) {
      return undefined;
    }
    const unseen = { spot: 0, onDemand: 0 };
    for (const { type, inLedger } of this.#own.of(revision)) {
      if (known.from === 'list' || !inLedger) {
        unseen[type === 'spot' ? 'spot' : 'onDemand'] += 1;
      }
    }
    const counts = {
      spot: known.counts.spot + unseen.spot,
      onDemand: known.counts.onDemand + unseen.onDemand,
    };
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
