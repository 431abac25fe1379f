import type { EvictIntent, ModuleName, Rank } from './intent.ts';

/** A disruption of a pod that has run: from its grant until its replacement is Ready, or none is wanted. */
export interface UnderWay {
  /** Null: a predecessor of this leader began it. */
  readonly module: ModuleName | null;
  readonly namespace: string;
  /** Nodes that the pod leaves. More than one where a predecessor began it and several pods are on their way out. */
  readonly nodes: readonly string[];
  /** Null: a predecessor of this leader began it. */
  readonly podUid: string | null;
  readonly sinceMs: number;
}

/** Something that counts against a minute's budget. */
export interface Spent {
  readonly namespace: string;
  readonly atMs: number;
}

/** What is under way in the whole cluster, and what the last minute has spent. */
export interface RegisterView {
  /** By UID of the workload: one at a time. */
  readonly underWay: ReadonlyMap<string, UnderWay>;
  /** Evictions of the last minute, in any order. */
  readonly begun: readonly Spent[];
  /** Removals of pods that never ran within the last minute, in any order. */
  readonly removed: readonly Spent[];
  /** The ranks of the latest evictions granted, the last one last. Those that came to nothing had their turn, too. */
  readonly turns: readonly Rank[];
}

export const nothingUnderWay: RegisterView = { underWay: new Map(), begun: [], removed: [], turns: [] };

export interface Budgets {
  /** Disruptions under way at once. */
  readonly maxInFlight: Readonly<Record<'cluster' | 'namespace' | 'node', number>>;
  readonly maxMovesPerMinute: number;
  readonly maxRemovalsPerMinute: number;
}

/** What a deferred intent waits for. */
export type Deferral =
  /** Another disruption of the same workload. `by` is null where a predecessor of this leader began it. */
  | { readonly reason: 'WorkloadBusy'; readonly by: ModuleName | null; readonly sinceMs: number }
  | {
      readonly reason: 'BudgetSpent';
      readonly budget: 'cluster' | 'namespace' | 'node' | 'minute' | 'removals';
      readonly used: number;
      readonly limit: number;
      /** When time alone makes room; null where a disruption has to end first. */
      readonly untilMs: number | null;
    };

/** Its module has not taken over from a former leader yet: it decides, and nothing is carried out. */
export interface TakingOver {
  readonly reason: 'TakingOver';
}

const MINUTE_MS = 60_000;

/** A budget of the last minute. */
export class MinuteUse {
  readonly limit: number;
  readonly #recent: readonly Spent[];
  readonly #byNamespace = new Map<string, number>();
  readonly #nowMs: number;
  #taken = 0;
  #freeAtMs: number | undefined;

  constructor(spent: readonly Spent[], limit: number, nowMs: number) {
    this.limit = limit;
    this.#nowMs = nowMs;
    this.#recent = spent.filter(({ atMs }) => atMs > nowMs - MINUTE_MS);
    for (const { namespace } of this.#recent) increase(this.#byNamespace, namespace, 1);
  }

  get used(): number {
    return this.#recent.length + this.#taken;
  }

  get left(): number {
    return Math.max(0, this.limit - this.used);
  }

  of(namespace: string): number {
    return this.#byNamespace.get(namespace) ?? 0;
  }

  take(namespace: string, count: number): void {
    this.#taken += count;
    this.#freeAtMs = undefined;
    increase(this.#byNamespace, namespace, count);
  }

  /** When one more is free: when only `limit - 1` are left within the minute. */
  get freeAtMs(): number {
    this.#freeAtMs ??= this.#nextFreeMs();
    return this.#freeAtMs;
  }

  #nextFreeMs(): number {
    const times = this.#recent.map(({ atMs }) => atMs).toSorted((a, b) => a - b);
    return (times[this.used - this.limit] ?? this.#nowMs) + MINUTE_MS;
  }
}

/** The budgets as they are spent, first by what is under way and then by each grant. */
export class Use {
  readonly minute: MinuteUse;
  readonly #budgets: Budgets;
  readonly #busy: Map<string, UnderWay>;
  readonly #namespaces = new Map<string, number>();
  readonly #nodes = new Map<string, number>();
  readonly #going = new Map<string, UnderWay>();
  readonly #nowMs: number;

  constructor({ underWay, begun }: RegisterView, budgets: Budgets, nowMs: number) {
    this.#budgets = budgets;
    this.#nowMs = nowMs;
    this.minute = new MinuteUse(begun, budgets.maxMovesPerMinute, nowMs);
    this.#busy = new Map(underWay);
    for (const one of underWay.values()) this.#count(one);
  }

  /** How much of the cluster's attention the namespace has: what is under way, then what was begun lately. */
  loadOf(namespace: string): number {
    // No namespace begins a million evictions in a minute.
    return (this.#namespaces.get(namespace) ?? 0) * 1_000_000 + this.minute.of(namespace);
  }

  busy(workloadUid: string): Deferral | null {
    return busyWith(this.#busy.get(workloadUid));
  }

  going(podUid: string): Deferral | null {
    return busyWith(this.#going.get(podUid));
  }

  /** The first budget that has nothing left for one more eviction; null when all have. */
  spent(namespace: string, node: string | null): Deferral | null {
    const used = {
      // A pod without a node burdens none.
      node: node === null ? -1 : (this.#nodes.get(node) ?? 0),
      cluster: this.#busy.size,
      namespace: this.#namespaces.get(namespace) ?? 0,
    };
    for (const budget of ['node', 'cluster', 'namespace'] as const) {
      const limit = this.#budgets.maxInFlight[budget];
      if (used[budget] >= limit) {
        return { reason: 'BudgetSpent', budget, used: used[budget], limit, untilMs: null };
      }
    }
    return this.minute.left > 0 ? null : spentMinute(this.minute, 'minute');
  }

  take({ module, pod, node, workload: { uid, namespace } }: EvictIntent): void {
    const nodes = node === null ? [] : [node];
    const disruption = { module, namespace, nodes, podUid: pod.uid, sinceMs: this.#nowMs };
    this.#busy.set(uid, disruption);
    this.#count(disruption);
    this.minute.take(namespace, 1);
  }

  #count(disruption: UnderWay): void {
    const { namespace, nodes, podUid } = disruption;
    increase(this.#namespaces, namespace, 1);
    for (const node of nodes) increase(this.#nodes, node, 1);
    if (podUid !== null) this.#going.set(podUid, disruption);
  }
}

/** A budget that has nothing left for any pod of the namespace, wherever it is; null when all have. */
export const spentFor = (
  namespace: string,
  register: RegisterView,
  budgets: Budgets,
  nowMs: number,
): Deferral | null => new Use(register, budgets, nowMs).spent(namespace, null);

export const spentMinute = (minute: MinuteUse, budget: 'minute' | 'removals'): Deferral => ({
  reason: 'BudgetSpent',
  budget,
  used: minute.used,
  limit: minute.limit,
  untilMs: minute.freeAtMs,
});

const busyWith = (disruption: UnderWay | undefined): Deferral | null =>
  disruption === undefined
    ? null
    : { reason: 'WorkloadBusy', by: disruption.module, sinceMs: disruption.sinceMs };

function increase(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
