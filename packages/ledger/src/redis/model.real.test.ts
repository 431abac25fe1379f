/** @needs redis @also redis-6.2 redis-8.0 valkey-8.1 */
import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RedisServers, startRedis } from '@spotalis/cluster';
import * as fc from 'fast-check';
import type { Redis } from 'ioredis';
import type { Breaker, DecideRequest, Ledger, LedgerEntry, ListMark, Revision } from '../ledger.ts';
import { MemoryLedger } from '../memory/memory-ledger.ts';
import { admin, age, newPrefix, readyLedger } from '../testing/redis.ts';
import type { RedisLedger } from './redis-ledger.ts';

const runs = { numRuns: Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000) };

const revisions: readonly Revision[] = ['one', 'two'].map((replicaSetUid) => ({
  workloadUid: 'w',
  replicaSetUid,
}));

interface Done {
  readonly atMs: number;
  readonly act: (ledger: Ledger) => Promise<unknown>;
}

/** The embedded ledger, which can be taken back to how it was. */
class Model {
  #clockMs = 1_700_000_000_000;
  #ledger = this.#fresh();
  #done: Done[] = [];
  #snapshot: Done[] = [];
  /** Marks of one and the same moment, as model and Redis tell it. None after time was shifted. */
  mark: { readonly model: ListMark; readonly real: ListMark } | undefined;

  get nowMs(): number {
    return this.#clockMs;
  }

  async act<T>(act: (ledger: Ledger) => Promise<T>): Promise<T> {
    this.#clockMs += 1;
    this.#done.push({ atMs: this.#clockMs, act });
    return await act(this.#ledger);
  }

  age(ms: number): void {
    this.#clockMs += ms;
    // What was kept apart does not age with the rest.
    this.mark = undefined;
    this.#snapshot = [];
  }

  flush(): void {
    this.#ledger = this.#fresh();
    this.#done = [];
  }

  snapshot(): void {
    this.#snapshot = [...this.#done];
  }

  async failOver(): Promise<void> {
    const kept = this.#snapshot;
    const nowMs = this.#clockMs;
    this.#ledger = this.#fresh();
    this.#done = [...kept];
    for (const { atMs, act } of kept) {
      this.#clockMs = atMs;
      await act(this.#ledger);
    }
    this.#clockMs = nowMs;
  }

  /** A store made an hour ago, so that newborn ReplicaSets count as such. */
  #fresh(): MemoryLedger {
    const made = this.#clockMs - 3_600_000;
    let first = true;
    return new MemoryLedger({
      now: () => {
        if (!first) return this.#clockMs;
        first = false;
        return made;
      },
    });
  }
}

interface System {
  readonly ledger: RedisLedger;
  readonly client: Redis;
  readonly prefix: string;
  snapshot: Map<string, Buffer>;
}

type Step = (model: Model, real: System) => Promise<void>;

class Command implements fc.AsyncCommand<Model, System> {
  readonly #name: string;
  readonly #step: Step;

  constructor(name: string, step: Step) {
    this.#name = name;
    this.#step = step;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: System): Promise<void> {
    await this.#step(model, real);
    for (const revision of revisions) {
      const [expected, found] = await Promise.all([
        model.act((ledger) => ledger.entries(revision)),
        real.ledger.entries(revision),
      ]);
      same(byToken(found), byToken(expected));
      const counts = await model.act((ledger) => ledger.counts(revision));
      same(await real.ledger.counts(revision), counts);
    }
  }

  toString(): string {
    return this.#name;
  }
}

/** Redis' answer and the model's. */
function same(found: unknown, expected: unknown): void {
  assert.deepStrictEqual(found, expected);
}

function byToken(entries: readonly LedgerEntry[]): LedgerEntry[] {
  return entries.toSorted((a, b) => (a.token < b.token ? -1 : 1));
}

/** The same call on both, and the same answer but for times. */
function call(name: string, act: (ledger: Ledger) => Promise<unknown>): Command {
  return new Command(name, async (model, real) => {
    const expected = await model.act(act);
    const found = await act(real.ledger);
    same(timeless(found), timeless(expected));
  });
}

function timeless(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answer ?? null, (key, value: unknown) =>
      key === 'mark' || key === 'permitTakenAtMs' ? undefined : value,
    ),
  );
}

/** Mostly the first: what happens to one ledger is to meet what happened to it before. */
const revision = fc
  .constantFrom(0, 0, 0, 0, 1)
  .map((n) => revisions[n] ?? { workloadUid: 'w', replicaSetUid: 'one' });
const token = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g');
const type = fc.constantFrom('spot' as const, 'on-demand' as const);
const version = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(9, 10, 11)).map((n) => String(n));
const typedPod = fc.record(
  {
    token,
    type,
    rank: fc.oneof({ weight: 6, arbitrary: fc.nat(4) }, fc.constant(70_000)),
    substitute: fc.boolean(),
    resourceVersion: version,
  },
  { requiredKeys: ['token', 'type', 'resourceVersion'] },
);
const untypedPod = fc.record({ token, type: fc.constant(null), resourceVersion: version });
const pod = fc.oneof({ weight: 4, arbitrary: typedPod }, { weight: 1, arbitrary: untypedPod });
const count = fc.record({ replicas: fc.nat(9), resourceVersion: version });
const knowledge = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ kind: 'cached' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('cached' as const, 'fresh' as const), replicas: count }),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        kind: fc.constant('verified' as const),
        replicas: count,
        mark: version.map((replicaSet) => ({ atUs: 0, epoch: 0, replicaSet })),
      },
      { requiredKeys: ['kind', 'replicas'] },
    ),
  },
);
const breaker: fc.Arbitrary<Breaker> = fc.oneof(
  fc.constantFrom({ state: 'closed' as const }, { state: 'open' as const, memo: 'm' }),
  fc.record({ state: fc.constant('half-open' as const), permits: fc.nat(2) }),
);

const decide = fc
  .record(
    {
      revision,
      token,
      carried: token,
      policy: fc.record({
        spotPercentage: fc.oneof(fc.constantFrom(33, 50, 67, 100), fc.nat(100)),
        minOnDemand: fc.constantFrom(0, 0, 1, 3),
      }),
      allowed: fc.constantFrom('both' as const, 'both' as const, 'spot' as const, 'on-demand' as const),
      knowledge,
      dryRun: fc.boolean(),
      retry: fc.boolean(),
      youngMs: fc.constantFrom(1_500, 90_000),
      untouched: fc.boolean(),
    },
    { requiredKeys: ['revision', 'token', 'policy', 'allowed', 'knowledge'] },
  )
  .map(({ youngMs, untouched = false, ...asked }) => {
    const request = (nowMs: number): DecideRequest =>
      youngMs === undefined ? asked : { ...asked, birth: { createdAtMs: nowMs - youngMs, untouched } };
    return new Command(`decide(${JSON.stringify({ ...asked, youngMs, untouched })})`, async (model, real) => {
      const modelNowMs = model.nowMs;
      const expected = await model.act((ledger) => ledger.decide(request(modelNowMs)));
      const found = await real.ledger.decide(request(Date.now()));
      same(timeless(found), timeless(expected));
      if (expected.kind === 'need-list' && found.kind === 'need-list') {
        model.mark = { model: expected.mark, real: found.mark };
      }
    });
  });

const merge = fc
  .record({
    revision,
    pods: fc.uniqueArray(pod, { selector: (one) => one.token, maxLength: 7 }),
    // Of most lists later than all pods; of the others the ledger begins anew where it knows later ones.
    resourceVersion: fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 31, max: 99 }).map(String) },
      { weight: 1, arbitrary: version },
    ),
    late: fc.boolean(),
  })
  .map(
    ({ revision: of, late, ...list }) =>
      new Command(`merge(${JSON.stringify({ ...of, ...list, late })})`, async (model, real) => {
        const held = late ? model.mark : undefined;
        const modelMark = held?.model ?? (await model.act((ledger) => ledger.markList(of)));
        const realMark = held?.real ?? (await real.ledger.markList(of));
        await model.act((ledger) => ledger.merge(of, list, modelMark));
        await real.ledger.merge(of, list, realMark);
      }),
  );

const commands = [
  decide,
  decide,
  decide,
  merge,
  merge,
  fc
    .tuple(revision, pod)
    .map(([of, seen]) => call(`seen(${JSON.stringify([of.replicaSetUid, seen])})`, (l) => l.seen(of, seen))),
  fc
    .tuple(revision, token)
    .map(([of, ended]) => call(`released(${of.replicaSetUid}, ${ended})`, (l) => l.released(of, ended))),
  fc
    .tuple(revision, token)
    .map(([of, late]) => call(`cancel(${of.replicaSetUid}, ${late})`, (l) => l.cancel(of, late))),
  fc
    .record({ revision, token, type, rank: fc.nat(4), substitute: fc.boolean() })
    .map(({ revision: of, ...alone }) =>
      call(`announce(${JSON.stringify([of.replicaSetUid, alone])})`, (l) => l.announce(of, alone)),
    ),
  revision.map(
    (of) =>
      new Command(`markList(${of.replicaSetUid})`, async (model, real) => {
        model.mark = {
          model: await model.act((ledger) => ledger.markList(of)),
          real: await real.ledger.markList(of),
        };
      }),
  ),
  fc.tuple(revision, count).map(([of, replicas]) =>
    call(`rememberReplicaSet(${JSON.stringify([of.replicaSetUid, replicas])})`, (ledger) =>
      ledger.rememberReplicaSet(of.replicaSetUid, {
        owner: { uid: of.workloadUid, name: 'web' },
        ...replicas,
      }),
    ),
  ),
  revision.map((of) =>
    call(`replicaSet(${of.replicaSetUid})`, (ledger) => ledger.replicaSet(of.replicaSetUid)),
  ),
  fc.tuple(breaker, fc.constantFrom(0, 0, 0, 1)).map(
    ([next, off]) =>
      new Command(`setBreaker(${JSON.stringify(next)}, ${off})`, async (model, real) => {
        const { version: current } = await model.act((ledger) => ledger.breaker('w'));
        const expected = await model.act((ledger) => ledger.setBreaker('w', next, current + off));
        same(timeless(await real.ledger.setBreaker('w', next, current + off)), timeless(expected));
      }),
  ),
  fc.constant(call('breaker()', (ledger) => ledger.breaker('w'))),
  fc
    .tuple(fc.nat(1), token, type, fc.boolean())
    .map(([ordinal, by, wanted, dryRun]) =>
      call(`steer(${ordinal}, ${by}, ${wanted}, ${dryRun})`, (ledger) =>
        ledger.steer({ workloadUid: 'w', ordinal, token: by, wanted, dryRun }),
      ),
    ),
  fc
    .constantFrom('spot' as const, 'both' as const, 'unknown' as const)
    .map((reach) => call(`setReach(${reach})`, (ledger) => ledger.setReach('w', new Map([[0, reach]])))),
  revision.map((of) => call(`remove(${of.replicaSetUid})`, (ledger) => ledger.remove(of))),
  fc.constantFrom(31_000, 301_000).map(
    (ms) =>
      new Command(`age(${ms})`, async (model, real) => {
        model.age(ms);
        real.snapshot = new Map();
        await age(real.client, real.prefix, ms);
      }),
  ),
  fc.constant(
    new Command('SCRIPT FLUSH', async (_model, real) => {
      await real.client.script('FLUSH');
    }),
  ),
  fc.constant(
    new Command('flush', async (model, real) => {
      model.flush();
      await wipe(real);
    }),
  ),
  fc.constant(
    new Command('snapshot', async (model, real) => {
      model.snapshot();
      real.snapshot = await dump(real);
    }),
  ),
  fc.constant(
    new Command('failover', async (model, real) => {
      await model.failOver();
      await wipe(real);
      for (const [key, value] of real.snapshot) await real.client.restore(key, 60_000, value, 'REPLACE');
    }),
  ),
];

async function wipe({ client, prefix }: System): Promise<void> {
  const keys = (await client.keys(`${prefix}*`)).filter((key) => !key.includes('{store}'));
  if (keys.length > 0) await client.del(...keys);
}

async function dump({ client, prefix }: System): Promise<Map<string, Buffer>> {
  const kept = new Map<string, Buffer>();
  for (const key of await client.keys(`${prefix}*`)) {
    const value = key.includes('{store}') ? null : await client.dumpBuffer(key);
    if (value !== null) kept.set(key, value);
  }
  return kept;
}

const slowStartMs = 60_000;

describe('the scripts', () => {
  let redis: RedisServers;
  let client: Redis;
  let ledger: RedisLedger;
  const prefix = newPrefix();

  beforeAll(async () => {
    redis = await startRedis();
    client = admin(redis.url);
    ledger = await readyLedger(
      { url: redis.url, keyPrefix: prefix },
      // What this process would tell a ledger that was flushed is not the model's to know.
      { timing: { announceMs: 0 } },
    );
    await age(client, prefix, 3_600_000);
  }, slowStartMs);

  afterAll(async () => {
    await ledger.close();
    client.disconnect();
    await redis.stop();
  }, slowStartMs);

  it('do what the embedded ledger does, whatever comes in whatever order', async () => {
    let passed = 0;
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 30, size: '+1' }), async (sequence) => {
        const real: System = { ledger, client, prefix, snapshot: new Map() };
        await wipe(real);
        await fc.asyncModelRun(() => ({ model: new Model(), real }), sequence);
        passed++;
      }),
      runs,
    );
    expect(passed).toBe(runs.numRuns);
  }, 600_000);
});
