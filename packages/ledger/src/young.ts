import type { OwnDecision } from './ledger.ts';

/** Into so many parts the time is cut for which decisions are kept. */
const PARTS = 8;

interface Part {
  readonly sinceMs: number;
  /** By ReplicaSet and token. */
  readonly decisions: Map<string, Map<string, number>>;
}

/**
 * What was decided in the last seconds, kept for the time given and up to an eighth more. In a flood these are tens of
 * thousands that outlive the young generation of the heap: hence a number in place of an object, and what is old goes
 * at once, with the part of the time in which it came.
 */
export class YoungDecisions {
  readonly #keptMs: number;
  readonly #now: () => number;
  /** The newest first. */
  readonly #parts: Part[] = [];

  constructor(keptMs: number, now: () => number) {
    this.#keptMs = keptMs;
    this.#now = now;
  }

  add(replicaSetUid: string, decision: OwnDecision): void {
    const { decisions } = this.#present();
    const ofReplicaSet = decisions.get(replicaSetUid) ?? new Map<string, number>();
    decisions.set(replicaSetUid, ofReplicaSet.set(decision.token, packed(decision)));
  }

  get(replicaSetUid: string, token: string): OwnDecision | undefined {
    for (const { decisions } of this.#kept()) {
      const found = decisions.get(replicaSetUid)?.get(token);
      if (found !== undefined) return unpacked(token, found);
    }
    return undefined;
  }

  of(replicaSetUid: string): readonly OwnDecision[] {
    const newest = new Map<string, number>();
    for (const { decisions } of this.#kept().toReversed()) {
      for (const [token, decision] of decisions.get(replicaSetUid) ?? []) newest.set(token, decision);
    }
    return [...newest].map(([token, decision]) => unpacked(token, decision));
  }

  remove(replicaSetUid: string, token: string): void {
    for (const { decisions } of this.#parts) decisions.get(replicaSetUid)?.delete(token);
  }

  forget(replicaSetUid: string): void {
    for (const { decisions } of this.#parts) decisions.delete(replicaSetUid);
  }

  dropOld(): void {
    const oldestMs = this.#now() - this.#keptMs - this.#partMs;
    while ((this.#parts.at(-1)?.sinceMs ?? Number.POSITIVE_INFINITY) < oldestMs) this.#parts.pop();
  }

  /** How many are kept; one that was added again may count twice. */
  get size(): number {
    return this.#kept()
      .flatMap(({ decisions }) => [...decisions.values()])
      .reduce((sum, { size }) => sum + size, 0);
  }

  #present(): Part {
    const [newest] = this.#kept();
    const nowMs = this.#now();
    if (newest !== undefined && nowMs - newest.sinceMs < this.#partMs) return newest;
    const part = { sinceMs: nowMs, decisions: new Map<string, Map<string, number>>() };
    this.#parts.unshift(part);
    return part;
  }

  #kept(): readonly Part[] {
    this.dropOld();
    return this.#parts;
  }

  get #partMs(): number {
    return this.#keptMs / PARTS;
  }
}

/** The rank with two bits behind it. */
function packed({ type, rank, substitute }: OwnDecision): number {
  return rank * 4 + (type === 'spot' ? 2 : 0) + (substitute ? 1 : 0);
}

function unpacked(token: string, decision: number): OwnDecision {
  const bits = decision & 3;
  return {
    token,
    type: bits >= 2 ? 'spot' : 'on-demand',
    rank: (decision - bits) / 4,
    substitute: bits % 2 === 1,
  };
}
