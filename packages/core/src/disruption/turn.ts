import { type EvictIntent, type Intent, type Rank, ranks } from './intent.ts';

interface Lane<I> {
  readonly namespace: string;
  /** Longest waiting last, so that taking one is cheap. */
  readonly waiting: I[];
  /** Of the namespace, when the lane was last put in order. */
  load: number;
}

/** Intents of one rank: the namespace with the least under way first, then the longest waiting. */
export class FairQueue<I extends Intent> {
  readonly #loadOf: (namespace: string) => number;
  /** Whoever is next is last. The load of a lane may have grown since it was put in order. */
  readonly #lanes: Lane<I>[];

  constructor(intents: readonly I[], loadOf: (namespace: string) => number) {
    this.#loadOf = loadOf;
    this.#lanes = [...grouped(intents, ({ workload }) => workload.namespace)]
      .map(([namespace, waiting]) => ({
        namespace,
        waiting: waiting.toSorted((a, b) => inOrder(b, a)),
        load: loadOf(namespace),
      }))
      .toSorted((a, b) => byLoad(b, a));
  }

  get isEmpty(): boolean {
    return this.#lanes.length === 0;
  }

  take(): I | undefined {
    for (let lane = this.#lanes.pop(); lane !== undefined; lane = this.#lanes.pop()) {
      const load = this.#loadOf(lane.namespace);
      if (load > lane.load) {
        lane.load = load;
        this.#insert(lane);
        continue;
      }
      const intent = lane.waiting.pop();
      if (lane.waiting.length > 0) this.#insert(lane);
      return intent;
    }
    return undefined;
  }

  /** What is left of an intent that was granted in part. */
  putBack(intent: I): void {
    const { namespace } = intent.workload;
    const at = this.#lanes.findIndex((lane) => lane.namespace === namespace);
    const [lane] = at < 0 ? [] : this.#lanes.splice(at, 1);
    this.#insert({ namespace, waiting: [...(lane?.waiting ?? []), intent], load: this.#loadOf(namespace) });
  }

  #insert(lane: Lane<I>): void {
    let low = 0;
    let high = this.#lanes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#lanes[middle];
      if (other !== undefined && byLoad(other, lane) > 0) low = middle + 1;
      else high = middle;
    }
    this.#lanes.splice(low, 0, lane);
  }
}

/** Ranks that get a tenth of the evictions while they wait, whatever goes before them. */
const assured: ReadonlySet<Rank> = new Set([ranks.distribution, ranks.rightSizing]);
const MOST_PASSED_OVER = 8;

/**
 * After so many evictions of other ranks one of an assured rank goes first. With both of them waiting, so many and two
 * more hold one of each: a tenth, and at least one of each minute's budget. A budget of less than four lets all three
 * go in turns.
 */
export const passedOverAtMost = (maxMovesPerMinute: number): number =>
  Math.max(2, Math.min(MOST_PASSED_OVER, maxMovesPerMinute - 2));

/** Whose turn it is among those that share the budgets. */
export class Turns {
  readonly #queues: ReadonlyMap<Rank, FairQueue<EvictIntent>>;
  readonly #turns: Rank[];
  readonly #passedOver: number;

  constructor(
    queues: ReadonlyMap<Rank, FairQueue<EvictIntent>>,
    turns: readonly Rank[],
    maxMovesPerMinute: number,
  ) {
    this.#queues = queues;
    this.#passedOver = passedOverAtMost(maxMovesPerMinute);
    this.#turns = turns.slice(-this.#passedOver);
  }

  take(): EvictIntent | undefined {
    const waiting = [...this.#queues].filter(([, queue]) => !queue.isEmpty).map(([rank]) => rank);
    const rank = waiting.find((one) => this.#isDue(one)) ?? waiting[0];
    return rank === undefined ? undefined : this.#queues.get(rank)?.take();
  }

  /** One of this rank was granted. */
  took(rank: Rank): void {
    this.#turns.push(rank);
    if (this.#turns.length > this.#passedOver) this.#turns.shift();
  }

  #isDue(rank: Rank): boolean {
    return assured.has(rank) && this.#turns.length === this.#passedOver && !this.#turns.includes(rank);
  }
}

/** The longest waiting of the lowest rank first; by `id` only so that the same intents always give one order. */
export const inOrder = (a: Intent, b: Intent): number =>
  a.rank - b.rank || a.sinceMs - b.sinceMs || (a.id < b.id ? -1 : 1);

/** The lowest rank first. */
export const byRank = <I extends Intent>(
  intents: readonly I[],
  loadOf: (namespace: string) => number,
): ReadonlyMap<Rank, FairQueue<I>> =>
  new Map(
    [...grouped(intents, ({ rank }) => rank)]
      .toSorted(([a], [b]) => a - b)
      .map(([rank, group]) => [rank, new FairQueue(group, loadOf)]),
  );

function grouped<K, I>(all: readonly I[], keyOf: (one: I) => K): ReadonlyMap<K, readonly I[]> {
  const groups = new Map<K, I[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
}

function byLoad<I extends Intent>(a: Lane<I>, b: Lane<I>): number {
  const [first, second] = [a.waiting.at(-1), b.waiting.at(-1)];
  return a.load - b.load || (first === undefined || second === undefined ? 0 : inOrder(first, second));
}
