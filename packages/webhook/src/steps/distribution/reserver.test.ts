import { describe, expect, it, jest } from '@jest/globals';
import {
  type Ledger,
  type LedgerPod,
  LedgerUnavailable,
  type ListMark,
  MemoryLedger,
} from '@spotalis/ledger';
import { Deadline } from '../../admission/deadline.ts';
import { Reserver, type ReservationRequest } from './reserver.ts';
import type { RevisionReads } from './revision.ts';

/** Resolves when the test says so. */
class Gate {
  #open: () => void = () => undefined;
  readonly passed = new Promise<void>((resolve) => {
    this.#open = resolve;
  });
  open(): void {
    this.#open();
  }
}

/** One ReplicaSet at an API server that answers when its gates are open. */
class World implements RevisionReads {
  readonly ledger: MemoryLedger;
  readonly lists: string[] = [];
  gets = 0;
  replicas = 10;
  existing: LedgerPod[] = [];
  listGate: Gate | undefined;
  failing = false;
  now = 0;
  #version = 1;

  constructor() {
    this.ledger = new MemoryLedger({ now: () => 1_000_000 + this.now });
  }

  async replicaSet() {
    this.gets += 1;
    const replicas = { replicas: this.replicas, resourceVersion: String(++this.#version) };
    if (this.failing) throw new Error('the API server is away');
    return { replicas, birth: { createdAtMs: 0, untouched: false } };
  }

  async pods() {
    const seen = [...this.existing];
    this.lists.push(`${seen.length} pods`);
    await this.listGate?.passed;
    if (this.failing) throw new Error('the API server is away');
    return { resourceVersion: String(++this.#version), pods: seen };
  }

  reserver(ledger: Ledger = this.ledger): Reserver {
    return new Reserver({
      ledger,
      reads: this,
      now: () => this.now,
      lane: { index: 0, of: 1 },
      random: () => 0.5,
      observer: { list: () => undefined, replicaSetRead: () => undefined },
    });
  }
}

function request(token: string, change: Partial<ReservationRequest> = {}): ReservationRequest {
  return {
    revision: {
      workloadUid: 'w',
      replicaSetUid: 'rs',
      namespace: 'shop',
      name: 'web-1',
      podTemplateHash: '1',
    },
    token,
    policy: { spotPercentage: 70, minOnDemand: 1 },
    allowed: 'both',
    dryRun: false,
    ...change,
  };
}

async function reserve(reserver: Reserver, ask: ReservationRequest, budgetMs = 60_000) {
  const deadline = new Deadline(budgetMs);
  try {
    return await reserver.reserve(ask, deadline);
  } finally {
    deadline.end();
  }
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index);
const marks = (spy: { mock: { calls: unknown[][] } }) => spy.mock.calls.map(([, , mark]) => mark as ListMark);

/** Lets everything run that waits for nothing but promises. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('a burst on a ledger that was never seeded', () => {
  it('shares one LIST, is exact, and reads the ReplicaSet no more often than the LIST', async () => {
    const world = new World();
    const reserver = world.reserver();
    const all = await Promise.all(times(10).map((index) => reserve(reserver, request(`t${index}`))));
    expect(all.filter(({ type }) => type === 'spot')).toHaveLength(7);
    expect(new Set(all.map(({ type, rank }) => `${type}/${rank}`)).size).toBe(10);
    expect(all.every(({ source }) => source === 'ledger')).toBe(true);
    expect(world.lists.length).toBeLessThanOrEqual(2);
  });

  it('does not let a decision join a LIST that began before it asked', async () => {
    const world = new World();
    world.listGate = new Gate();
    const merge = jest.spyOn(world.ledger, 'merge');
    const reserver = world.reserver();
    const first = reserve(reserver, request('a'));
    await settle();
    // A pod that the first LIST did not see any more.
    world.existing = [{ token: 'old', type: 'spot', rank: 0, resourceVersion: '1' }];
    world.now = 5;
    const second = reserve(reserver, request('b'));
    await settle();
    expect(world.lists).toEqual(['0 pods']);
    world.listGate.open();
    await Promise.all([first, second]);
    expect(world.lists).toEqual(['0 pods', '1 pods']);
    const [earlier, later] = marks(merge);
    expect(later?.atUs).toBeGreaterThan(earlier?.atUs ?? Infinity);
    merge.mockRestore();
  });

  it('merges with the latest mark of those who wait', async () => {
    const world = new World();
    world.listGate = new Gate();
    const merge = jest.spyOn(world.ledger, 'merge');
    const reserver = world.reserver();
    const asks = [reserve(reserver, request('a'))];
    await settle();
    for (const token of ['b', 'c', 'd']) {
      world.now += 7;
      asks.push(reserve(reserver, request(token)));
      await settle();
    }
    world.listGate.open();
    await Promise.all(asks);
    expect(world.lists).toHaveLength(2);
    expect(marks(merge)[1]?.atUs).toBeGreaterThanOrEqual((1_000_000 + 21) * 1_000);
  });
});

describe('the deadline', () => {
  it('answers from what is known when only the LIST is late, and tells the ledger what it answered', async () => {
    const world = new World();
    const reserver = world.reserver();
    await Promise.all(times(4).map((index) => reserve(reserver, request(`t${index}`))));
    // A release that was seen: the next decision has to LIST.
    world.now = 10;
    await world.ledger.released(request('').revision, 't0');
    world.now = 20;
    world.listGate = new Gate();
    const late = await reserve(reserver, request('late'), 5);
    expect(late).toMatchObject({ source: 'late', counts: { spot: expect.any(Number) } });
    world.listGate.open();
    await settle();
    await settle();
    expect(await world.ledger.lookup(request('').revision, ['late'])).toMatchObject([
      { state: 'pending', type: late.type, rank: late.rank },
    ]);
  });

  it('gives on-demand when nothing is known', async () => {
    const world = new World();
    world.listGate = new Gate();
    const late = await reserve(world.reserver(), request('late'), 5);
    expect(late).toMatchObject({ type: 'on-demand', source: 'late', counts: undefined });
    world.listGate.open();
  });

  it('has the ledger hold what was answered, not what it decided too late', async () => {
    const world = new World();
    const gate = new Gate();
    const slow = new Proxy(world.ledger, {
      get(target, name) {
        if (name !== 'decide') return Reflect.get(target, name).bind(target);
        return async (ask: Parameters<Ledger['decide']>[0]) => {
          const decision = await target.decide(ask);
          if (decision.kind === 'decided') await gate.passed;
          return decision;
        };
      },
    });
    const policy = { spotPercentage: 100, minOnDemand: 0 };
    const ask = request('late', { policy });
    const late = await reserve(world.reserver(slow), ask, 5);
    gate.open();
    await settle();
    expect(late.source).toBe('late');
    expect(await world.ledger.entries(ask.revision)).toMatchObject([
      { token: 'late', type: late.type, rank: late.rank },
    ]);
  });

  it('cancels, and answers nobody, when the caller went away', async () => {
    const world = new World();
    world.listGate = new Gate();
    const deadline = new Deadline(60_000);
    const reserver = world.reserver();
    const gone = reserver.reserve(request('gone'), deadline);
    await settle();
    deadline.abandon();
    await expect(gone).rejects.toMatchObject({ code: 'DECISION_TIMEOUT' });
    world.listGate.open();
    await settle();
    expect(await world.ledger.entries(request('').revision)).toHaveLength(0);
  });

  it('gives a place back whose answer did not get through', async () => {
    const world = new World();
    const reserver = world.reserver();
    const ask = request('a');
    await reserver.cancel(ask, await reserve(reserver, ask));
    expect(await world.ledger.entries(ask.revision)).toHaveLength(0);
  });
});

describe('an outage of the ledger', () => {
  class Outage {
    down = false;
    readonly ledger: Ledger;

    constructor(target: Ledger) {
      this.ledger = new Proxy(target, {
        get: (real, name) => {
          const value = Reflect.get(real, name);
          if (typeof value !== 'function' || name === 'health') return value;
          if (name === 'isPoolOpen') return value.bind(real);
          return async (...args: unknown[]) => {
            if (this.down) throw new LedgerUnavailable('LEDGER_DISCONNECTED', 'down');
            return Reflect.apply(value, real, args);
          };
        },
      });
    }
  }

  it('is decided from the pods and the own decisions, floor first and within one of the target', async () => {
    const world = new World();
    const outage = new Outage(world.ledger);
    outage.down = true;
    const reserver = world.reserver(outage.ledger);
    const all = [];
    for (const index of times(10)) all.push(await reserve(reserver, request(`t${index}`)));
    expect(all[0]?.type).toBe('on-demand');
    expect(Math.abs(all.filter(({ type }) => type === 'spot').length - 7)).toBeLessThanOrEqual(1);
    expect(all.every(({ source }) => source === 'ledger-unavailable')).toBe(true);
    expect(new Set(all.map(({ type, rank }) => `${type}/${rank}`)).size).toBe(10);
  });

  it('sends nobody into the drought of a placement that it knows of', async () => {
    const world = new World();
    const outage = new Outage(world.ledger);
    await world.ledger.openPool('dry', 60_000);
    outage.down = true;
    const reserver = world.reserver(outage.ledger);
    const policy = { spotPercentage: 100, minOnDemand: 0 };
    const ask = async (token: string, pool: string) =>
      await reserve(reserver, request(token, { policy, pool }));
    expect(await ask('a', 'dry')).toMatchObject({ type: 'on-demand', substitute: true });
    expect(await ask('b', 'wet')).toMatchObject({ type: 'spot', substitute: false });
  });

  it('gives the same call, and the reinvoked pod, the same answer', async () => {
    const world = new World();
    const outage = new Outage(world.ledger);
    outage.down = true;
    const reserver = world.reserver(outage.ledger);
    const first = await reserve(reserver, request('a'));
    const again = await reserve(reserver, request('a'));
    const reinvoked = await reserve(reserver, request('b', { carried: 'a' }));
    for (const answer of [again, reinvoked]) {
      expect(answer).toMatchObject({ token: 'a', type: first.type, rank: first.rank, source: 'replay' });
    }
  });

  it('says again of a substitute that it is one, whoever decided so', async () => {
    const world = new World();
    const outage = new Outage(world.ledger);
    await world.ledger.openPool('dry', 60_000);
    const reserver = world.reserver(outage.ledger);
    const asked = (token: string, carried?: string) =>
      request(token, {
        policy: { spotPercentage: 100, minOnDemand: 0 },
        pool: 'dry',
        ...(carried === undefined ? {} : { carried }),
      });
    const byLedger = await reserve(reserver, asked('a'));
    outage.down = true;
    const alone = await reserve(reserver, asked('b'));
    for (const { token, substitute } of [byLedger, alone]) {
      expect(substitute).toBe(true);
      const again = await reserve(reserver, asked(`${token}-again`, token));
      expect(again).toMatchObject({ token, type: 'on-demand', substitute: true, source: 'replay' });
    }
  });

  it('has all who ask meanwhile join the LIST under way, and decides as in one row', async () => {
    const world = new World();
    world.listGate = new Gate();
    const outage = new Outage(world.ledger);
    outage.down = true;
    const reserver = world.reserver(outage.ledger);
    const asks = [];
    for (const index of times(10)) {
      asks.push(reserve(reserver, request(`t${index}`)));
      await settle();
    }
    world.listGate.open();
    const all = await Promise.all(asks);
    expect(world.lists).toHaveLength(1);
    expect(Math.abs(all.filter(({ type }) => type === 'spot').length - 7)).toBeLessThanOrEqual(1);
  });

  it('spreads what is missing over all replicas wanted, known from the owner before any read', async () => {
    const world = new World();
    const outage = new Outage(world.ledger);
    const reserver = world.reserver(outage.ledger);
    world.replicas = 20;
    const replicas = { replicas: 20, resourceVersion: '1' };
    // All on-demand so far: making up for it at once would be spot, spot, spot.
    world.existing = times(6).map((rank) => ({
      token: `old${rank}`,
      type: 'on-demand',
      rank,
      resourceVersion: '1',
    }));
    const first = request('a', { replicas, policy: { spotPercentage: 50, minOnDemand: 0 } });
    // Another process reads for the ledger; this one has to read nothing.
    await reserve(world.reserver(), request('other', { policy: first.policy }));
    const { gets } = world;
    await reserve(reserver, first);
    expect(world.gets).toBe(gets);
    outage.down = true;
    world.failing = true;
    const all = [];
    for (const index of times(4)) all.push(await reserve(reserver, { ...first, token: `t${index}` }));
    expect(all.filter(({ type }) => type === 'on-demand').length).toBeGreaterThanOrEqual(1);
  });

  it('is no reason to look at the pods when they were counted a moment ago', async () => {
    const world = new World();
    const outage = new Outage(world.ledger);
    const reserver = world.reserver(outage.ledger);
    await reserve(reserver, request('a'));
    const { length } = world.lists;
    outage.down = true;
    expect(await reserve(reserver, request('b'))).toMatchObject({ source: 'ledger-unavailable' });
    expect(world.lists).toHaveLength(length);
    world.now += 2_000;
    await reserve(reserver, request('c'));
    expect(world.lists).toHaveLength(length + 1);
  });

  it('is not a time to wait for a slow LIST by, where the pods were counted before', async () => {
    const world = new World();
    const outage = new Outage(world.ledger);
    const reserver = world.reserver(outage.ledger);
    for (const index of times(4)) await reserve(reserver, request(`t${index}`));
    world.now += 2_000;
    world.listGate = new Gate();
    outage.down = true;
    const all = await Promise.all(times(6).map((index) => reserve(reserver, request(`u${index}`))));
    expect(all.every(({ source }) => source === 'ledger-unavailable')).toBe(true);
    expect(Math.abs(all.filter(({ type }) => type === 'spot').length - 4)).toBeLessThanOrEqual(1);
    // It has gone on, and what it found will do for those who come later.
    world.listGate.open();
    await settle();
    const { length } = world.lists;
    await reserve(reserver, request('v'));
    expect(world.lists).toHaveLength(length);
  });

  it('leaves nothing in the ledger of an answer that did not get through', async () => {
    const world = new World();
    world.failing = true;
    const reserver = world.reserver();
    const ask = request('a');
    const alone = await reserve(reserver, ask);
    expect(await world.ledger.entries(ask.revision)).toHaveLength(1);
    await reserver.cancel(ask, alone);
    expect(await world.ledger.entries(ask.revision)).toHaveLength(0);
  });

  it('goes back to the ledger when it is over', async () => {
    const world = new World();
    const outage = new Outage(world.ledger);
    const reserver = world.reserver(outage.ledger);
    outage.down = true;
    expect((await reserve(reserver, request('a'))).source).toBe('ledger-unavailable');
    outage.down = false;
    expect((await reserve(reserver, request('b'))).source).toBe('ledger');
  });

  it('is over when the ledger only stumbled and answers once the pods were looked at', async () => {
    const world = new World();
    const outage = new Outage(world.ledger);
    const reserver = world.reserver(outage.ledger);
    await reserve(reserver, request('a'));
    world.now += 2_000;
    world.listGate = new Gate();
    outage.down = true;
    const asked = times(3).map((index) => reserve(reserver, request(`t${index}`)));
    await settle();
    outage.down = false;
    world.listGate.open();
    for (const { source } of await Promise.all(asked)) expect(source).toBe('ledger');
    expect(await world.ledger.entries(request('a').revision)).toHaveLength(4);
  });

  it('gives a place back that was taken by the question nobody heard the answer of', async () => {
    const world = new World();
    const decide = jest.spyOn(world.ledger, 'decide');
    const reserver = world.reserver();
    await reserve(reserver, request('a'));
    world.now += 2_000;
    decide.mockImplementationOnce(async (asked) => {
      decide.mockRestore();
      await world.ledger.decide(asked);
      throw new LedgerUnavailable('LEDGER_TIMEOUT', 'carried out, and the answer was late');
    });
    const ask = request('b');
    const reservation = await reserve(reserver, ask);
    expect(reservation.source).toBe('ledger');
    await reserver.cancel(ask, reservation);
    expect((await world.ledger.entries(ask.revision)).map(({ token }) => token)).toEqual(['a']);
  });

  it('has what it may have decided cancelled when the caller went away during the look at the pods', async () => {
    const world = new World();
    const outage = new Outage(world.ledger);
    const reserver = world.reserver(outage.ledger);
    const cancel = jest.spyOn(world.ledger, 'cancel');
    await reserve(reserver, request('a'));
    world.now += 2_000;
    world.listGate = new Gate();
    outage.down = true;
    const deadline = new Deadline(60_000);
    const asked = reserver.reserve(request('b'), deadline);
    await settle();
    deadline.abandon();
    await expect(asked).rejects.toThrow('no decision');
    outage.down = false;
    world.listGate.open();
    await settle();
    expect(cancel.mock.calls.map(([, token]) => token)).toEqual(['b']);
    cancel.mockRestore();
  });

  it('is decided alone also when the API server is away, from what was known', async () => {
    const world = new World();
    const outage = new Outage(world.ledger);
    const reserver = world.reserver(outage.ledger);
    for (const index of times(4)) await reserve(reserver, request(`t${index}`));
    outage.down = true;
    world.failing = true;
    const all = [];
    for (const index of times(6)) all.push(await reserve(reserver, request(`u${index}`)));
    expect(all.every(({ source }) => source === 'ledger-unavailable')).toBe(true);
    // 3 of the first 4 were spot; of 10 it is to be 7.
    expect(Math.abs(all.filter(({ type }) => type === 'spot').length - 4)).toBeLessThanOrEqual(1);
  });

  it('keeps to the one type that a pod allows', async () => {
    const world = new World();
    const outage = new Outage(world.ledger);
    outage.down = true;
    const reserver = world.reserver(outage.ledger);
    expect((await reserve(reserver, request('a', { allowed: 'spot' }))).type).toBe('spot');
  });
});

describe('the API server away, the ledger there', () => {
  it('decides from what is known', async () => {
    const world = new World();
    world.failing = true;
    const answer = await reserve(world.reserver(), request('a'));
    expect(answer).toMatchObject({ source: 'api-unavailable', type: 'on-demand' });
  });
});
