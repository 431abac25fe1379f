import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../testing/arbitraries.ts';
import { type Arbitration, arbitrate } from './arbitrate.ts';
import type { EvictIntent, Intent, ModuleName, Rank, RemovalIntent } from './intent.ts';
import { type Budgets, type Deferral, nothingUnderWay, type Spent, type UnderWay } from './register.ts';
import { passedOverAtMost } from './turn.ts';

const MINUTE_MS = 60_000;
const wide: Budgets = {
  maxInFlight: { cluster: 1_000, namespace: 1_000, node: 1_000 },
  maxMovesPerMinute: 1_000,
  maxRemovalsPerMinute: 1_000,
};
const moduleOf: Readonly<Record<Rank, ModuleName>> = {
  0: 'recycling',
  1: 'distribution',
  2: 'recycling',
  3: 'distribution',
  4: 'rightsizing',
  5: 'allocation',
};

const podOf = (name: string) => ({ name, uid: `${name}-uid`, resourceVersion: '1' });

const base = (name: string, rank: Rank, namespace: string) => ({
  id: `${name}-${rank}`,
  module: moduleOf[rank],
  rank,
  subject: `${moduleOf[rank]}/Deployment/${namespace}/${name}`,
  workload: { uid: name, namespace },
});

const evictOf = (name: string, change: Partial<EvictIntent> = {}): EvictIntent => ({
  ...base(name, change.rank ?? 3, change.workload?.namespace ?? 'shop'),
  kind: 'evict',
  pod: podOf(name),
  node: `node-of-${name}`,
  sinceMs: 0,
  ...change,
});

const removalOf = (name: string, count: number, namespace = name, sinceMs = 0): RemovalIntent => ({
  ...base(name, 3, namespace),
  kind: 'removeNeverRan',
  pods: Array.from({ length: count }, (_, index) => podOf(`${name}-${index}`)),
  sinceMs,
});

/** The register as grants, ends and cancellations change it: the simplest that could be right. */
class Model {
  readonly underWay = new Map<string, UnderWay & { rank: Rank }>();
  begun: Spent[] = [];
  removed: Spent[] = [];
  readonly turns: Rank[] = [];
  nowMs = 0;

  grant(intent: Intent): void {
    const { workload, rank, module } = intent;
    const { namespace } = workload;
    if (intent.kind === 'removeNeverRan') {
      for (const _pod of intent.pods) this.removed.push({ namespace, atMs: this.nowMs });
    }
    if (intent.kind !== 'evict') return;
    const nodes = intent.node === null ? [] : [intent.node];
    const sinceMs = this.nowMs;
    this.underWay.set(workload.uid, { module, namespace, nodes, podUid: intent.pod.uid, sinceMs, rank });
    this.begun.push({ namespace, atMs: this.nowMs });
    if (rank > 0) this.turns.push(rank);
  }

  end(index: number): void {
    const uid = [...this.underWay.keys()][index % Math.max(1, this.underWay.size)];
    if (uid !== undefined) this.underWay.delete(uid);
  }

  /** It came to nothing: as if it had not begun, but for its turn. */
  cancel(index: number): void {
    const [uid, one] = [...this.underWay][index % Math.max(1, this.underWay.size)] ?? [];
    if (uid === undefined || one === undefined) return;
    this.underWay.delete(uid);
    const at = this.begun.findIndex(
      ({ atMs, namespace }) => atMs === one.sinceMs && namespace === one.namespace,
    );
    if (at >= 0) this.begun.splice(at, 1);
  }

  recent(spent: readonly Spent[]): number {
    return spent.filter(({ atMs }) => atMs > this.nowMs - MINUTE_MS).length;
  }

  /** How many are under way in the namespace, on the node, in the cluster. */
  inFlight({ workload, node }: EvictIntent) {
    const all = [...this.underWay.values()];
    return {
      cluster: all.length,
      namespace: all.filter(({ namespace }) => namespace === workload.namespace).length,
      node: node === null ? -1 : all.filter(({ nodes }) => nodes.includes(node)).length,
    };
  }
}

const small = (max: number) => fc.integer({ min: 1, max });
const budgets: fc.Arbitrary<Budgets> = fc.record({
  maxInFlight: fc.record({ cluster: small(6), namespace: small(4), node: small(2) }),
  maxMovesPerMinute: small(8),
  maxRemovalsPerMinute: small(20),
});
const rank = fc.constantFrom<Rank>(0, 1, 2, 3, 4, 5);

/** Several modules may want something of one workload, and of one pod, at the same time. */
const intents: fc.Arbitrary<Intent[]> = fc.uniqueArray(
  fc
    .record({
      rank,
      kind: fc.constantFrom('evict' as const, 'evict' as const, 'removeNeverRan' as const, 'resize' as const),
      workload: fc.integer({ min: 0, max: 9 }),
      node: fc.option(fc.integer({ min: 0, max: 3 })),
      pods: fc.integer({ min: 0, max: 25 }),
      sinceMs: fc.integer({ min: 0, max: 20 }),
    })
    .map(({ rank: of, kind, workload, node, pods, sinceMs }): Intent => {
      const name = `w${workload}`;
      const namespace = `ns${workload % 3}`;
      const common = { ...base(name, of, namespace), id: `${kind} ${name} ${of}`, sinceMs };
      if (kind === 'removeNeverRan') return { ...removalOf(name, pods, namespace), ...common };
      if (kind === 'resize') return { ...common, kind, pod: podOf(name), purpose: 'size', to: new Map() };
      return { ...common, kind, pod: podOf(name), node: node === null ? null : `node${node}` };
    }),
  { selector: ({ id }) => id, maxLength: 20 },
);

/** What happens between two arbitrations. */
const happening = fc.record({
  passedMs: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 70_000 })),
  ended: fc.array(fc.nat(20), { maxLength: 4 }),
  cancelled: fc.array(fc.nat(20), { maxLength: 2 }),
  intents,
});

type Check = (model: Model, arbitration: Arbitration, asked: readonly Intent[], limits: Budgets) => void;

/** `check` is called before the grants of each arbitration are entered. */
const inAnyInterleaving = (check: Check) =>
  fc.property(budgets, fc.array(happening, { minLength: 1, maxLength: 8 }), (limits, happenings) => {
    const model = new Model();
    for (const { passedMs, ended, cancelled, intents: asked } of happenings) {
      model.nowMs += passedMs;
      for (const index of ended) model.end(index);
      for (const index of cancelled) model.cancel(index);
      check(model, arbitrate(asked, model, limits, model.nowMs), asked, limits);
    }
  });

const enter = (model: Model, { granted }: Arbitration): void => {
  for (const intent of granted) model.grant(intent);
};

/** Granted or deferred; and a removal may be both, each for a part of its pods. */
function isAnswered(intent: Intent, got: Intent | undefined, deferral: Deferral | undefined): boolean {
  if (got === undefined) return deferral !== undefined;
  if (got.kind !== 'removeNeverRan' || intent.kind !== 'removeNeverRan') return deferral === undefined;
  const isFirst = got.pods.every((pod, index) => pod === intent.pods[index]);
  return isFirst && (deferral === undefined) === (got.pods.length === intent.pods.length);
}

/** What it waits for is so, after the grants. */
function isTrue(intent: Intent, deferral: Deferral | undefined, model: Model, limits: Budgets): boolean {
  if (deferral === undefined) return true;
  if (deferral.reason === 'WorkloadBusy')
    return model.underWay.has(intent.workload.uid) || intent.kind === 'resize';
  const { budget, used, limit, untilMs } = deferral;
  if (used < limit || (untilMs !== null && untilMs <= model.nowMs)) return false;
  if (intent.kind !== 'evict') return budget === 'removals';
  const now = { ...model.inFlight(intent), minute: model.recent(model.begun), removals: 0 };
  const most = { ...limits.maxInFlight, minute: limits.maxMovesPerMinute, removals: 1 };
  return now[budget] >= most[budget];
}

describe('in any interleaving of modules and outcomes', () => {
  it('no budget is exceeded but by nodes that are about to be taken away', () => {
    fc.assert(
      inAnyInterleaving((model, { granted }, _asked, limits) => {
        for (const intent of granted) {
          if (intent.kind === 'evict' && intent.rank > 0) {
            const used = model.inFlight(intent);
            const { maxInFlight, maxMovesPerMinute } = limits;
            const isSpent =
              used.cluster >= maxInFlight.cluster ||
              used.namespace >= maxInFlight.namespace ||
              used.node >= maxInFlight.node ||
              model.recent(model.begun) >= maxMovesPerMinute;
            if (isSpent) expect({ used, minute: model.recent(model.begun) }).toBe('within the budgets');
          }
          model.grant(intent);
          expect(model.recent(model.removed)).toBeLessThanOrEqual(limits.maxRemovalsPerMinute);
        }
      }),
      propertyRuns,
    );
  });

  it('a workload has one disruption of a pod that has run, whoever asks and for whatever', () => {
    fc.assert(
      inAnyInterleaving((model, { granted }) => {
        for (const intent of granted) {
          if (intent.kind === 'evict') expect(model.underWay.has(intent.workload.uid)).toBe(false);
          model.grant(intent);
        }
      }),
      propertyRuns,
    );
  });

  it('a node that is about to be taken away waits for nothing but the workload', () => {
    let waited = 0;
    fc.assert(
      inAnyInterleaving((model, arbitration, asked) => {
        for (const { id, kind, rank: of } of asked) {
          const deferral = arbitration.deferred.get(id);
          if (kind !== 'evict' || of > 0 || deferral === undefined) continue;
          expect(deferral.reason).toBe('WorkloadBusy');
          waited++;
        }
        enter(model, arbitration);
      }),
      propertyRuns,
    );
    expect(waited).toBeGreaterThan(0);
  });

  it('a lower rank goes before a higher one that wants the same budget, but for the tenth that is assured', () => {
    fc.assert(
      inAnyInterleaving((model, arbitration, asked, limits) => {
        const passed = asked.filter(({ kind, id }) => {
          const deferral = arbitration.deferred.get(id);
          if (kind !== 'evict' || deferral?.reason !== 'BudgetSpent') return false;
          return deferral.budget === 'cluster' || deferral.budget === 'minute';
        });
        const first = Math.min(...passed.map(({ rank: of }) => of));
        for (const intent of arbitration.granted) {
          if (intent.kind === 'evict' && intent.rank > first) {
            expect([3, 4]).toContain(intent.rank);
            expect(model.turns.slice(-passedOverAtMost(limits.maxMovesPerMinute))).not.toContain(intent.rank);
          }
          model.grant(intent);
        }
      }),
      propertyRuns,
    );
  });

  it('whatever is asked for is granted or waits for something that is really so', () => {
    const reasons = new Set<string>();
    fc.assert(
      inAnyInterleaving((model, arbitration, asked, limits) => {
        enter(model, arbitration);
        const granted = new Map(arbitration.granted.map((one) => [one.id, one]));
        const wrong: unknown[] = [];
        for (const intent of asked) {
          const deferral = arbitration.deferred.get(intent.id);
          const got = granted.get(intent.id);
          if (!isAnswered(intent, got, deferral) || !isTrue(intent, deferral, model, limits)) {
            wrong.push({ intent, got, deferral });
          }
          if (deferral?.reason === 'BudgetSpent') reasons.add(deferral.budget);
        }
        expect(wrong).toEqual([]);
      }),
      propertyRuns,
    );
    expect([...reasons].toSorted()).toEqual(['cluster', 'minute', 'namespace', 'node', 'removals']);
  });

  it('the order in which intents came makes no difference', () => {
    fc.assert(
      inAnyInterleaving((model, arbitration, asked, limits) => {
        expect(arbitrate(asked.toReversed(), model, limits, model.nowMs)).toEqual(arbitration);
        enter(model, arbitration);
      }),
      propertyRuns,
    );
  });

  it('a pod on its way out keeps its size', () => {
    let waited = 0;
    fc.assert(
      inAnyInterleaving((model, arbitration) => {
        enter(model, arbitration);
        const going = new Set([...model.underWay.values()].map(({ podUid }) => podUid));
        for (const intent of arbitration.granted) {
          if (intent.kind === 'resize') expect(going.has(intent.pod.uid)).toBe(false);
        }
        waited += [...arbitration.deferred.keys()].filter((id) => id.startsWith('resize')).length;
      }),
      propertyRuns,
    );
    expect(waited).toBeGreaterThan(0);
  });
});

describe('while ranks wait all the time', () => {
  /** The ranks of what was granted, in order, while there is always one more of each of them. */
  function supplied(perMinute: number, waiting: readonly Rank[], minutes: number): readonly Rank[] {
    const model = new Model();
    const limits = { ...wide, maxMovesPerMinute: perMinute };
    for (let minute = 0; minute < minutes; minute++) {
      model.nowMs += MINUTE_MS;
      const asked = waiting.flatMap((of) =>
        Array.from({ length: perMinute }, (_, index) => evictOf(`${minute}-${of}-${index}`, { rank: of })),
      );
      enter(model, arbitrate(asked, model, limits, model.nowMs));
    }
    return model.turns;
  }

  it('distribution and right-sizing get a tenth, and at least one of each minute', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 80 }), fc.constantFrom<Rank>(1, 2), (perMinute, urgent) => {
        const turns = supplied(perMinute, [urgent, 3, 4], 12);
        expect(turns).toHaveLength(12 * perMinute);
        const many = Math.max(4, Math.min(10, perMinute));
        const stretches = Array.from({ length: turns.length - many + 1 }, (_, at) =>
          turns.slice(at, at + many),
        );
        expect(stretches.find((one) => !one.includes(3) || !one.includes(4))).toBeUndefined();
        for (const assured of [3, 4] as const) {
          for (let start = 0; perMinute >= 4 && start < turns.length; start += perMinute) {
            const got = turns.slice(start, start + perMinute).filter((one) => one === assured).length;
            expect(got).toBeGreaterThanOrEqual(Math.max(1, Math.floor(perMinute / 10)));
          }
        }
        // The rest goes by rank: no more than a tenth where there is enough to give.
        expect(turns.filter((one) => one === urgent).length).toBeGreaterThanOrEqual(
          Math.floor(turns.length / 3),
        );
      }),
      { numRuns: 100 },
    );
  });

  it('nobody else goes before a lower rank', () => {
    expect(new Set(supplied(10, [1, 2, 5], 3))).toEqual(new Set([1]));
    expect(new Set(supplied(10, [2, 5], 3))).toEqual(new Set([2]));
  });
});

describe('the budget of the minute', () => {
  it('is free again at the very time that a deferral tells', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(MINUTE_MS), { maxLength: 9 }), (ages) => {
        const begun = ages.map((age) => ({ namespace: 'shop', atMs: MINUTE_MS - age }));
        const limits = { ...wide, maxMovesPerMinute: 3 };
        const at = (nowMs: number) =>
          arbitrate([evictOf('web')], { ...nothingUnderWay, begun }, limits, nowMs).deferred.get('web-3');
        const deferral = at(MINUTE_MS);
        if (deferral?.reason !== 'BudgetSpent' || deferral.untilMs === null) return;
        expect(at(deferral.untilMs)).toBeUndefined();
        expect(at(deferral.untilMs - 1)).toBeDefined();
      }),
      propertyRuns,
    );
  });
});

describe('one namespace that never comes to rest', () => {
  it('does not hold up another one for longer than one eviction of each namespace', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        (churning, cluster, areShort) => {
          const limits = { ...wide, maxInFlight: { cluster, namespace: cluster, node: 1 } };
          const model = new Model();
          const late = evictOf('late', { workload: { uid: 'late', namespace: 'quiet' }, sinceMs: 1_000 });
          // All of them have waited for longer.
          const others = Array.from({ length: churning * 20 }, (_, index) => {
            const namespace = `busy${index % churning}`;
            return evictOf(`w${index}`, { workload: { uid: `w${index}`, namespace }, sinceMs: index });
          });
          const waiting = new Map([...others, late].map((one) => [one.id, one]));
          let before = 0;
          while (waiting.has(late.id)) {
            model.nowMs += 100;
            // Evictions that end at once leave no trace but in the minute.
            if (areShort) model.underWay.clear();
            else model.end(0);
            const { granted } = arbitrate(waiting.values(), model, limits, model.nowMs);
            for (const intent of granted) {
              if (waiting.has(late.id) && intent.id !== late.id) before++;
              waiting.delete(intent.id);
              model.grant(intent);
            }
          }
          expect(before).toBeLessThanOrEqual(churning);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('does not take the removals of a minute from the others', () => {
    const limits = { ...wide, maxRemovalsPerMinute: 40 };
    const { granted, deferred } = arbitrate(
      [removalOf('huge', 5_000), removalOf('small', 12, 'small', 9)],
      nothingUnderWay,
      limits,
      MINUTE_MS,
    );
    expect(granted.map((one) => [one.id, one.kind === 'removeNeverRan' && one.pods.length])).toEqual([
      ['huge-3', 28],
      ['small-3', 12],
    ]);
    expect(deferred.get('huge-3')).toEqual({
      reason: 'BudgetSpent',
      budget: 'removals',
      used: 40,
      limit: 40,
      untilMs: 2 * MINUTE_MS,
    });
  });
});

describe('the cost of an arbitration', () => {
  /** How often an intent is looked at, all namespaces being in the way of each other. */
  function looks(count: number): number {
    let reads = 0;
    const asked = Array.from({ length: count }, (_, index) => {
      const namespace = `ns${index % Math.ceil(count / 10)}`;
      const intent = evictOf(`w${index}`, { workload: { uid: `w${index}`, namespace } });
      return Object.defineProperty(intent, 'sinceMs', {
        get() {
          reads++;
          return (index * 7_919) % count;
        },
      });
    });
    arbitrate(
      asked,
      nothingUnderWay,
      { ...wide, maxInFlight: { cluster: 20, namespace: 5, node: 1 } },
      MINUTE_MS,
    );
    return reads;
  }

  it('grows with the intents, not with their square', () => {
    // Sorting alone makes it 14 times for ten times as many.
    expect(looks(20_000) / looks(2_000)).toBeLessThan(20);
  });
});
