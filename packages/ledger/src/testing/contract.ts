import { describe, expect, it } from '@jest/globals';
import { type CapacityType, slotType, spotAfterGrowth, targetSpot } from '@spotalis/core';
import * as fc from 'fast-check';
import { type Knowledge, latestMark, type Revision } from '../ledger.ts';
import {
  markOf,
  newRevision,
  place,
  plenty,
  pod,
  request,
  seed,
  seventy,
  type Subject,
  untyped,
  verified,
} from './subject.ts';

/** What every ledger must do. `subject` gives the one that the suite set up; revisions keep the tests apart. */
export function describeLedger(subject: () => Subject): void {
  const ledger = () => subject().ledger;
  const ask = async (workloadUid: string, ordinal: number, more = {}) =>
    await ledger().steer({ workloadUid, ordinal, token: `t${ordinal}`, wanted: 'spot', ...more });
  // A case asks a real store for dozens of decisions, a law takes some microseconds.
  const growth = { numRuns: Math.ceil(Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000) / 50) };
  const policies = fc.record({
    spotPercentage: fc.integer({ min: 0, max: 100 }),
    minOnDemand: fc.integer({ min: 0, max: 8 }),
  });

  describe('decide', () => {
    it('gives the slot sequence on growth, and ranks in order (L2)', async () => {
      await fc.assert(
        fc.asyncProperty(policies, async (policy) => {
          const revision = newRevision();
          await seed(ledger(), revision);
          const next = { spot: 0, 'on-demand': 0 };
          for (let n = 0; n < 25; n++) {
            const { type, rank } = await place(ledger(), request(revision, `t${n}`, { policy }));
            expect(type).toBe(slotType(policy, n));
            expect(rank).toBe(next[type]++);
          }
        }),
        growth,
      );
    });

    it('gives the same types to admissions that come at once as to one after another', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      const all = await Promise.all(
        Array.from({ length: 100 }, (_, n) => place(ledger(), request(revision, `t${n}`))),
      );
      expect(all.filter(({ type }) => type === 'spot')).toHaveLength(targetSpot(seventy, 100));
      expect(new Set(all.map(({ type, rank }) => `${type}${rank}`)).size).toBe(100);
    });

    it('heads for the nearest reachable mix from any start (L3)', async () => {
      await fc.assert(
        fc.asyncProperty(
          policies,
          fc.nat(12),
          fc.nat(12),
          fc.nat(12),
          async (policy, spot, onDemand, more) => {
            const revision = newRevision();
            const pods = [
              ...Array.from({ length: spot }, (_, i) => pod(`s${i}`, 'spot', i)),
              ...Array.from({ length: onDemand }, (_, i) => pod(`o${i}`, 'on-demand', i)),
            ];
            await seed(ledger(), revision, pods);
            for (let i = 0; i < more; i++) await place(ledger(), request(revision, `t${i}`, { policy }));
            const counts = await ledger().counts(revision);
            expect(counts.spot).toBe(spotAfterGrowth(policy, { spot, onDemand }, more));
            expect(counts.spot + counts.onDemand).toBe(spot + onDemand + more);
          },
        ),
        growth,
      );
    });

    it('ends exact when stale entries are found out by one list once the ledger looks full (L6)', async () => {
      await fc.assert(
        fc.asyncProperty(
          policies,
          fc.integer({ min: 1, max: 20 }),
          fc.nat(8),
          async (policy, size, stale) => {
            const revision = newRevision();
            const types = Array.from({ length: size }, (_, n) => slotType(policy, n));
            const pods = types.map((type, n) => pod(`old${n}`, type, n));
            await seed(ledger(), revision, pods);
            const truth = pods.slice(Math.min(stale, size));
            const fresh = { kind: 'fresh' as const, replicas: { replicas: size, resourceVersion: '5' } };
            for (let n = truth.length; n < size; n++) {
              const asked = request(revision, `new${n}`, { policy, knowledge: fresh });
              let decision = await ledger().decide(asked);
              if (decision.kind === 'need-list') {
                await ledger().merge(revision, { resourceVersion: '30', pods: truth }, decision.mark);
                decision = await ledger().decide({ ...asked, knowledge: verified(size, '5') });
              }
              expect(decision.kind).toBe('decided');
              const { type, rank } = await place(ledger(), asked);
              const made = pod(`new${n}`, type, rank, String(40 + n));
              truth.push(made);
              await ledger().seen(revision, made);
            }
            expect(truth.filter(({ type }) => type === 'spot')).toHaveLength(targetSpot(policy, size));
          },
        ),
        growth,
      );
    });

    it('gives a known token the same answer again and takes nothing', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      const first = await place(ledger(), request(revision, 'a'));
      await place(ledger(), request(revision, 'b'));
      const again = await place(ledger(), request(revision, 'a'));
      expect(again).toMatchObject({ type: first.type, rank: first.rank, token: 'a', replay: true });
      expect(await ledger().counts(revision)).toMatchObject({ spot: 1, onDemand: 1, pending: 2 });
    });

    it('takes for a replay nobody who asks again because no answer came', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      const first = await place(ledger(), request(revision, 'a'));
      const retried = await place(ledger(), request(revision, 'a', { retry: true }));
      expect(retried).toMatchObject({ type: first.type, rank: first.rank, token: 'a', replay: false });
      const reinvoked = request(revision, 'b', { carried: 'a', retry: true });
      expect(await place(ledger(), reinvoked)).toMatchObject({ token: 'a', replay: true });
      await ledger().seen(revision, pod('a', first.type, first.rank));
      expect(await place(ledger(), request(revision, 'a', { retry: true }))).toMatchObject({ replay: true });
    });

    it('answers a replay whose pod lives, though the ledger must be listed first', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'spot', 3), pod('b', 'spot', 4)]);
      await ledger().released(revision, 'b');
      expect(await place(ledger(), request(revision, 'a'))).toMatchObject({
        type: 'spot',
        rank: 3,
        replay: true,
      });
    });

    it('gives a reinvocation the place that its pod carries already', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      const first = await place(ledger(), request(revision, 'first'));
      const second = await place(ledger(), request(revision, 'second', { carried: 'first' }));
      expect(second).toMatchObject({ type: first.type, rank: first.rank, token: 'first', replay: true });
      expect(await ledger().counts(revision)).toMatchObject({ pending: 1 });
    });

    it('ignores a carried token that is a live pod, of another ledger, or made up', async () => {
      const [revision, other] = [newRevision(), newRevision()];
      await seed(ledger(), revision, [pod('live', 'spot', 0)]);
      await seed(ledger(), other);
      await place(ledger(), request(other, 'elsewhere'));
      for (const [n, carried] of ['live', 'elsewhere', 'made-up'].entries()) {
        const answer = await place(ledger(), request(revision, `t${n}`, { carried }));
        expect(answer).toMatchObject({ token: `t${n}`, replay: false });
      }
      expect(await ledger().counts(revision)).toMatchObject({ pending: 3 });
    });

    it('answers a late replay of a pod that ended with on-demand, and writes nothing', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await place(ledger(), request(revision, 'a'));
      await ledger().released(revision, 'a');
      const late = await place(ledger(), request(revision, 'a'));
      expect(late).toMatchObject({ type: 'on-demand', replay: true });
      expect(await ledger().counts(revision)).toEqual({ spot: 0, onDemand: 0, untyped: 0, pending: 0 });
    });

    it('leaves no trace of a dry run', async () => {
      const revision = newRevision();
      await ledger().decide(request(revision, 'x', { dryRun: true }));
      expect(await ledger().decide(request(revision, 'x', { knowledge: { kind: 'cached' } }))).toEqual({
        kind: 'need-replicaset',
      });
      await seed(ledger(), revision, [pod('a', 'on-demand', 0)]);
      const breaker = await ledger().setBreaker(revision.workloadUid, { state: 'half-open', permits: 1 }, 0);
      expect(breaker.kind).toBe('written');
      const dry = await place(ledger(), request(revision, 'y', { dryRun: true }));
      expect(dry).toMatchObject({ type: 'spot', rank: 0, replay: false, counts: { spot: 1, onDemand: 1 } });
      expect(await ledger().counts(revision)).toEqual({ spot: 0, onDemand: 1, untyped: 0, pending: 0 });
      expect(await ledger().breaker(revision.workloadUid)).toMatchObject({ permits: 1 });
      expect(await place(ledger(), request(revision, 'y'))).toMatchObject({ type: 'spot', replay: false });
    });

    it('gives the one type that the pod itself allows, and enters that', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await ledger().setBreaker(revision.workloadUid, { state: 'open' }, 0);
      const spot = await place(ledger(), request(revision, 'a', { allowed: 'spot' }));
      expect(spot).toMatchObject({ type: 'spot', substitute: false });
      await place(ledger(), request(revision, 'b', { allowed: 'on-demand' }));
      await place(ledger(), request(revision, 'c', { allowed: 'on-demand' }));
      expect(await ledger().counts(revision)).toEqual({ spot: 1, onDemand: 2, untyped: 0, pending: 3 });
    });

    it('says how many there are with this pod', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      expect(await place(ledger(), request(revision, 'a'))).toMatchObject({
        counts: { spot: 0, onDemand: 1 },
      });
      expect(await place(ledger(), request(revision, 'b'))).toMatchObject({
        counts: { spot: 1, onDemand: 1 },
      });
      expect(await place(ledger(), request(revision, 'a'))).toMatchObject({
        counts: { spot: 1, onDemand: 1 },
      });
    });
  });

  describe('ranks', () => {
    it('fills the lowest gap of the type first', async () => {
      const revision = newRevision();
      const pods = [0, 1, 3, 4, 7].map((rank) => pod(`s${rank}`, 'spot', rank));
      await seed(ledger(), revision, pods);
      const ranks: number[] = [];
      for (let n = 0; n < 5; n++) {
        ranks.push((await place(ledger(), request(revision, `t${n}`, { allowed: 'spot' }))).rank);
      }
      expect(ranks).toEqual([2, 5, 6, 8, 9]);
    });

    it('frees a rank that two pods share only when both have gone', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'spot', 0), pod('b', 'spot', 0), pod('c', 'spot', 1)]);
      const spot = async (token: string) =>
        await place(ledger(), request(revision, token, { allowed: 'spot', knowledge: verified(1000) }));
      await ledger().released(revision, 'a');
      expect((await spot('x')).rank).toBe(2);
      await ledger().released(revision, 'b');
      expect((await spot('y')).rank).toBe(0);
    });

    it('is not led astray by a rank that a pod made up, or by pods without one', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [
        pod('far', 'spot', 4_000_000_000),
        { token: 'none', type: 'spot', resourceVersion: '10' },
      ]);
      const answer = await place(ledger(), request(revision, 't', { allowed: 'spot' }));
      expect(answer).toMatchObject({ rank: 0, counts: { spot: 3 } });
    });

    it('follows a pod that was renumbered or turned out to be of the other type', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'spot', 0), pod('b', 'spot', 1)]);
      await ledger().seen(revision, pod('a', 'spot', 5, '30'));
      await ledger().seen(revision, pod('b', 'on-demand', 0, '31'));
      expect(await ledger().counts(revision)).toMatchObject({ spot: 1, onDemand: 1 });
      expect((await place(ledger(), request(revision, 'c', { allowed: 'spot' }))).rank).toBe(0);
      expect((await place(ledger(), request(revision, 'd', { allowed: 'on-demand' }))).rank).toBe(1);
    });
  });

  describe('a pod whose type nobody knows', () => {
    it('takes the place of a replica: the ledger looks full no later for it', async () => {
      const revision = newRevision();
      const pods = [pod('a', 'on-demand', 0), pod('b', 'spot', 0), untyped('u'), untyped('v')];
      await seed(ledger(), revision, pods);
      expect(await ledger().counts(revision)).toEqual({ spot: 1, onDemand: 1, untyped: 2, pending: 0 });
      const replicas = { replicas: 4, resourceVersion: '9' };
      const fresh = request(revision, 't', { knowledge: { kind: 'fresh', replicas } });
      expect(await ledger().decide(fresh)).toMatchObject({ kind: 'need-list', reason: 'full' });
      const counts = { spot: 2, onDemand: 1, untyped: 2 };
      const grown = request(revision, 't', { knowledge: verified(5, '10') });
      expect(await place(ledger(), grown)).toMatchObject({ type: 'spot', rank: 1, counts });
      // It frees its own place, and no rank.
      await ledger().released(revision, 'u');
      expect(await ledger().counts(revision)).toMatchObject({ untyped: 1 });
    });

    it('is not relied upon for the floor', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [untyped('u'), untyped('v'), untyped('w')]);
      const asked = (token: string) => request(revision, token, { policy: { ...seventy, minOnDemand: 2 } });
      const types: string[] = [];
      for (const token of ['a', 'b', 'c', 'd']) types.push((await place(ledger(), asked(token))).type);
      expect(types).toEqual(['on-demand', 'on-demand', 'spot', 'spot']);
    });

    it('gets its type as soon as it is told, whatever the resourceVersion', async () => {
      const revision = newRevision();
      const mark = await ledger().markList(revision);
      await seed(ledger(), revision, [untyped('u', '10'), untyped('v', '10')], '20');
      expect(await ledger().seen(revision, untyped('u', '10'))).toBe('outdated');
      expect(await ledger().seen(revision, pod('u', 'spot', 0, '10'))).toBe('recorded');
      const pods = [pod('u', 'spot', 0, '10'), pod('v', 'on-demand', 3, '10')];
      await ledger().merge(revision, { resourceVersion: '19', pods }, mark);
      expect(await ledger().counts(revision)).toMatchObject({ spot: 1, onDemand: 1, untyped: 0 });
      expect(await ledger().lookup(revision, ['u', 'v'])).toMatchObject([
        { type: 'spot', rank: 0, resourceVersion: '20' },
        { type: 'on-demand', rank: 3, resourceVersion: '20' },
      ]);
    });

    it('keeps the type that it was known by', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'spot', 4, '10'), pod('b', 'on-demand', 1, '10')]);
      expect(await ledger().seen(revision, untyped('a', '30'))).toBe('recorded');
      const pods = [untyped('a', '30'), untyped('b', '31')];
      await ledger().merge(revision, { resourceVersion: '40', pods }, await ledger().markList(revision));
      expect(await ledger().lookup(revision, ['a', 'b'])).toMatchObject([
        { type: 'spot', rank: 4, resourceVersion: '40' },
        { type: 'on-demand', rank: 1, resourceVersion: '40' },
      ]);
    });
  });

  describe('an API server whose etcd went back to a backup', () => {
    const asked = (revision: Revision, token: string, knowledge: Knowledge) =>
      request(revision, token, { knowledge, policy: { spotPercentage: 50, minOnDemand: 0 } });
    const replicas = (count: number, resourceVersion: string) => ({ replicas: count, resourceVersion });

    it('is noticed by a list that is older than what was known, and the ledger begins anew', async () => {
      const revision = newRevision();
      const owner = { uid: revision.workloadUid, name: 'web' };
      await seed(ledger(), revision, [pod('a', 'spot', 0, '800'), pod('b', 'on-demand', 0, '900')], '1000');
      const info = { owner, ...replicas(2, '950') };
      await ledger().rememberReplicaSet(revision.replicaSetUid, info);
      // Before it, b was made and a had another rank; c was there still, and the ReplicaSet wanted three.
      await ledger().released(revision, 'c');
      const pods = [pod('a', 'spot', 3, '300'), pod('c', 'on-demand', 1, '310')];
      await ledger().merge(revision, { resourceVersion: '400', pods }, await ledger().markList(revision));
      expect(await ledger().counts(revision)).toEqual({ spot: 1, onDemand: 1, untyped: 0, pending: 0 });
      expect(await ledger().lookup(revision, ['a', 'b', 'c'])).toMatchObject([
        { rank: 3, resourceVersion: '400' },
        undefined,
        { rank: 1, resourceVersion: '400' },
      ]);
      expect(await ledger().replicaSet(revision.replicaSetUid)).toBeUndefined();
      expect(await ledger().decide(asked(revision, 't', { kind: 'cached' }))).toEqual({
        kind: 'need-replicaset',
      });
      const fresh = await place(
        ledger(),
        asked(revision, 't', { kind: 'fresh', replicas: replicas(3, '290') }),
      );
      expect(fresh).toMatchObject({ type: 'spot', replay: false });
      // From there on all is as ever.
      expect(await ledger().seen(revision, pod('a', 'spot', 0, '410'))).toBe('recorded');
      expect((await ledger().decide(asked(revision, 'u', { kind: 'cached' }))).kind).toBe('need-replicaset');
    });

    it('is not suspected for a list that began before something was told', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'spot', 0)], '1000');
      const mark = await ledger().markList(revision);
      await ledger().seen(revision, pod('b', 'spot', 1, '1200'));
      await place(ledger(), request(revision, 'c'));
      await ledger().merge(revision, { resourceVersion: '1100', pods: [pod('a', 'spot', 0)] }, mark);
      expect(await ledger().counts(revision)).toMatchObject({ spot: 2, onDemand: 1, pending: 1 });
    });

    it('begins anew once, whoever else has a list from before', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'spot', 0, '900')], '1000');
      const [one, other] = [await ledger().markList(revision), await ledger().markList(revision)];
      const pods = [pod('a', 'spot', 0, '300')];
      await ledger().merge(revision, { resourceVersion: '400', pods }, one);
      const decided = await place(ledger(), request(revision, 'b'));
      await ledger().merge(revision, { resourceVersion: '390', pods }, other);
      expect(await ledger().lookup(revision, ['b'])).toMatchObject([
        { state: 'pending', rank: decided.rank },
      ]);
    });

    it('overtook what was known: a verified count holds, though it is the older', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'on-demand', 0, '900')], '1000');
      const cached = asked(revision, 't', { kind: 'cached', replicas: replicas(1, '950') });
      expect(await ledger().decide(cached)).toEqual({ kind: 'need-replicaset' });
      const stale = asked(revision, 't', { kind: 'fresh', replicas: replicas(5, '300') });
      const mark = await markOf(ledger(), stale, 'full');
      await ledger().merge(
        revision,
        { resourceVersion: '1100', pods: [pod('a', 'on-demand', 0, '250')] },
        mark,
      );
      const knowledge = { kind: 'verified' as const, replicas: replicas(5, '300'), mark };
      await place(ledger(), asked(revision, 't', knowledge));
      for (const token of ['u', 'v', 'w']) await place(ledger(), asked(revision, token, { kind: 'cached' }));
      expect((await ledger().decide(asked(revision, 'x', { kind: 'cached' }))).kind).toBe('need-replicaset');
    });

    it('does not make an older count win over one that was told after the list was asked for', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'on-demand', 0)], '20');
      const full = asked(revision, 't', { kind: 'fresh', replicas: replicas(1, '10') });
      const mark = await markOf(ledger(), full, 'full');
      const owner = { uid: revision.workloadUid, name: 'web' };
      await ledger().rememberReplicaSet(revision.replicaSetUid, { owner, ...replicas(2, '30') });
      await ledger().merge(revision, { resourceVersion: '25', pods: [pod('a', 'on-demand', 0)] }, mark);
      const knowledge = { kind: 'verified' as const, replicas: replicas(1, '10'), mark };
      await place(ledger(), asked(revision, 't', knowledge));
      expect(await ledger().counts(revision)).toMatchObject({ pending: 1 });
      expect((await ledger().decide(asked(revision, 'u', { kind: 'cached' }))).kind).toBe('need-replicaset');
    });
  });

  describe('replicas', () => {
    it('must be known before anything is decided', async () => {
      const revision = newRevision();
      const asked = request(revision, 'a', { knowledge: { kind: 'cached' } });
      expect(await ledger().decide(asked)).toEqual({ kind: 'need-replicaset' });
      await seed(ledger(), revision);
      expect(await ledger().decide(asked)).toEqual({ kind: 'need-replicaset' });
    });

    it('are kept for the callers that do not know them', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await place(ledger(), request(revision, 'a'));
      expect(await place(ledger(), request(revision, 'b', { knowledge: { kind: 'cached' } }))).toBeDefined();
    });

    it('are those of the later resourceVersion, also beyond 2^53', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'on-demand', 0)], '9');
      const cached = (replicas: number, resourceVersion: string) =>
        ledger().decide(
          request(revision, `t${resourceVersion}`, {
            knowledge: { kind: 'cached', replicas: { replicas, resourceVersion } },
            dryRun: false,
          }),
        );
      expect((await cached(1, '18446744073709551612')).kind).toBe('need-replicaset');
      expect((await cached(50, '18446744073709551611')).kind).toBe('need-replicaset');
      expect((await cached(50, '9999')).kind).toBe('need-replicaset');
      expect((await cached(2, '18446744073709551613')).kind).toBe('decided');
      expect((await cached(50, '18446744073709551614')).kind).toBe('decided');
    });

    it('reach an existing ledger from whoever reads the ReplicaSet', async () => {
      const revision = newRevision();
      const owner = { uid: revision.workloadUid, name: 'web' };
      await seed(ledger(), revision, [pod('a', 'spot', 0)]);
      await ledger().rememberReplicaSet(revision.replicaSetUid, {
        owner,
        replicas: 2,
        resourceVersion: '50',
      });
      await ledger().rememberReplicaSet(revision.replicaSetUid, {
        owner,
        replicas: 1,
        resourceVersion: '49',
      });
      expect(await ledger().replicaSet(revision.replicaSetUid)).toEqual({
        owner,
        replicas: 2,
        resourceVersion: '50',
      });
      const asked = { knowledge: { kind: 'cached' as const } };
      expect((await ledger().decide(request(revision, 'b', asked))).kind).toBe('decided');
      expect((await ledger().decide(request(revision, 'c', asked))).kind).toBe('need-replicaset');
      expect(await ledger().replicaSet('never-seen')).toBeUndefined();
    });
  });

  describe('a list', () => {
    it('is needed before the first decision', async () => {
      const revision = newRevision();
      await ledger().seen(revision, pod('a', 'spot', 0));
      expect(await ledger().decide(request(revision, 't'))).toMatchObject({
        kind: 'need-list',
        reason: 'unseeded',
      });
      await seed(ledger(), revision, [pod('a', 'spot', 0)]);
      expect((await ledger().decide(request(revision, 't'))).kind).toBe('decided');
    });

    it('is needed when a decision is past its deadline, which nothing else ever drops', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await place(ledger(), request(revision, 'a'));
      await subject().age(31_000);
      expect(await ledger().counts(revision)).toMatchObject({ pending: 1 });
      const mark = await markOf(ledger(), request(revision, 'b'), 'expired-pending');
      await ledger().merge(revision, { resourceVersion: '40', pods: [] }, mark);
      expect(await ledger().counts(revision)).toMatchObject({ pending: 0 });
      expect(await place(ledger(), request(revision, 'b'))).toMatchObject({ rank: 0 });
    });

    it('is not needed while a decision is within its deadline', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await place(ledger(), request(revision, 'a'));
      await subject().age(25_000);
      expect((await ledger().decide(request(revision, 'b'))).kind).toBe('decided');
    });

    it('is needed when a release was seen, until one that began after it', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'spot', 0), pod('b', 'spot', 1), pod('c', 'spot', 2)]);
      await ledger().released(revision, 'a');
      const mark = await markOf(ledger(), request(revision, 't1'), 'release-seen');
      // It may or may not have the pod that goes now: a caller who asks after that must not be content with it.
      await ledger().released(revision, 'b');
      await ledger().merge(revision, { resourceVersion: '40', pods: [pod('c', 'spot', 2)] }, mark);
      const later = await markOf(ledger(), request(revision, 't2'), 'release-seen');
      await ledger().merge(
        revision,
        { resourceVersion: '41', pods: [pod('c', 'spot', 2)] },
        latestMark(mark, later),
      );
      expect((await ledger().decide(request(revision, 't2'))).kind).toBe('decided');
    });

    it('is not needed for the end of a pod that the ledger did not know', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await ledger().released(revision, 'never-entered');
      expect((await ledger().decide(request(revision, 't'))).kind).toBe('decided');
    });

    it('is needed when the ledger is full, but only after the replicas were read again', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'spot', 0), pod('b', 'on-demand', 0)]);
      const replicas = { replicas: 2, resourceVersion: '9' };
      const cached = request(revision, 't', { knowledge: { kind: 'cached', replicas } });
      expect(await ledger().decide(cached)).toEqual({ kind: 'need-replicaset' });
      const fresh = request(revision, 't', { knowledge: { kind: 'fresh', replicas } });
      expect(await ledger().decide(fresh)).toMatchObject({ kind: 'need-list', reason: 'full' });
      const grown = { kind: 'fresh' as const, replicas: { replicas: 3, resourceVersion: '10' } };
      expect((await ledger().decide({ ...fresh, knowledge: grown })).kind).toBe('decided');
    });

    it('proves the oldest decisions beyond the replicas to be ghosts, never a pod', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('live', 'on-demand', 0)]);
      for (const token of ['oldest', 'older', 'young']) await place(ledger(), request(revision, token));
      const answer = await place(ledger(), request(revision, 'next', { knowledge: verified(3, '2') }));
      expect(answer).toMatchObject({ replay: false });
      const tokens = (await ledger().entries(revision)).map(({ token }) => token).toSorted();
      expect(tokens).toEqual(['live', 'next', 'young']);
      await place(ledger(), request(revision, 'last', { knowledge: verified(0, '3') }));
      expect((await ledger().entries(revision)).map(({ token }) => token).toSorted()).toEqual([
        'last',
        'live',
      ]);
    });

    it('drops no decision while there is room for its pod', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await place(ledger(), request(revision, 'a'));
      await place(ledger(), request(revision, 'b', { knowledge: verified(2, '2') }));
      expect(await ledger().counts(revision)).toMatchObject({ pending: 2 });
    });

    it('is not needed by the ledger of a ReplicaSet made just now', async () => {
      const revision = newRevision();
      const now = await subject().nowMs();
      const birth = { createdAtMs: now - 1_500, untouched: true };
      const first = await ledger().decide(request(revision, 'a', { birth }));
      const expected = subject().tellsLosses
        ? { kind: 'decided', rank: 0, replay: false }
        : { kind: 'need-list', reason: 'unseeded' };
      expect(first).toMatchObject(expected);
      const next = await ledger().decide(request(revision, 'b'));
      expect(next.kind).toBe(expected.kind);
    });

    it('is needed by that of one that has been counted, is older, or has a clock of its own', async () => {
      const now = await subject().nowMs();
      const births = [
        { createdAtMs: now - 1_500, untouched: false },
        { createdAtMs: now - 61_000, untouched: true },
        { createdAtMs: now + 5_000, untouched: true },
      ];
      for (const birth of births) {
        const answer = await ledger().decide(request(newRevision(), 'a', { birth }));
        expect(answer).toMatchObject({ kind: 'need-list', reason: 'unseeded' });
      }
    });
  });

  describe('merge', () => {
    it('enters what is listed and forgets what is not', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'spot', 0, '10'), pod('b', 'spot', 1, '11')]);
      await seed(ledger(), revision, [pod('b', 'spot', 1, '11'), pod('c', 'on-demand', 0, '25')], '30');
      const entries = (await ledger().entries(revision)).toSorted((x, y) => x.token.localeCompare(y.token));
      expect(entries).toEqual([
        { token: 'b', type: 'spot', rank: 1, substitute: false, state: 'live', resourceVersion: '30' },
        { token: 'c', type: 'on-demand', rank: 0, substitute: false, state: 'live', resourceVersion: '30' },
      ]);
      expect(await ledger().seen(revision, pod('a', 'spot', 0, '10'))).toBe('gone');
    });

    it('takes type and rank from the pod, whatever the reservation said', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      const mine = await place(ledger(), request(revision, 'a'));
      expect(mine).toMatchObject({ type: 'on-demand', rank: 0 });
      await seed(ledger(), revision, [pod('a', 'spot', 4, '31')], '32');
      expect(await ledger().lookup(revision, ['a', 'nobody'])).toEqual([
        { token: 'a', type: 'spot', rank: 4, substitute: false, state: 'live', resourceVersion: '32' },
        undefined,
      ]);
      expect(await ledger().counts(revision)).toEqual({ spot: 1, onDemand: 0, untyped: 0, pending: 0 });
    });

    it('keeps what was seen after the list was made', async () => {
      const revision = newRevision();
      const mark = await ledger().markList(revision);
      await ledger().seen(revision, pod('new', 'spot', 0, '101'));
      await ledger().seen(revision, pod('changed', 'on-demand', 0, '102'));
      const pods = [pod('changed', 'spot', 0, '90')];
      await ledger().merge(revision, { resourceVersion: '100', pods }, mark);
      expect(await ledger().counts(revision)).toMatchObject({ spot: 1, onDemand: 1 });
      expect(await ledger().lookup(revision, ['changed'])).toMatchObject([
        { type: 'on-demand', resourceVersion: '102' },
      ]);
    });

    it('does not let an older list undo a newer one', async () => {
      const revision = newRevision();
      const mark = await ledger().markList(revision);
      await seed(ledger(), revision, [pod('a', 'spot', 0, '15'), pod('b', 'spot', 1, '18')], '20');
      await ledger().merge(revision, { resourceVersion: '16', pods: [pod('a', 'on-demand', 0, '14')] }, mark);
      expect(await ledger().counts(revision)).toMatchObject({ spot: 2, onDemand: 0 });
    });

    it('keeps a decision that is within its deadline though no list shows its pod yet', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await place(ledger(), request(revision, 'a'));
      await seed(ledger(), revision, [], '40');
      expect(await ledger().counts(revision)).toMatchObject({ pending: 1 });
    });

    it('does not bring back a pod that ended after the list began', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'spot', 0)]);
      const mark = await ledger().markList(revision);
      await ledger().released(revision, 'a');
      await ledger().merge(revision, { resourceVersion: '40', pods: [pod('a', 'spot', 0)] }, mark);
      expect(await ledger().counts(revision)).toMatchObject({ spot: 0 });
    });

    it('brings back a pod that was said to have ended before the list began', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await ledger().released(revision, 'a');
      await seed(ledger(), revision, [pod('a', 'spot', 0)], '40');
      expect(await ledger().counts(revision)).toMatchObject({ spot: 1 });
      expect(await ledger().seen(revision, pod('a', 'spot', 0, '41'))).toBe('recorded');
    });

    it('keeps what was decided a moment ago though the clock was set back by a minute', async () => {
      const revision = newRevision();
      const pods = [pod('a', 'on-demand', 0), pod('b', 'spot', 0), pod('c', 'spot', 1)];
      await seed(ledger(), revision, pods);
      await ledger().released(revision, 'c');
      await subject().setBack(60_000);
      const first = await markOf(ledger(), request(revision, 'd'), 'release-seen');
      await ledger().merge(revision, { resourceVersion: '30', pods: pods.slice(0, 2) }, first);
      await place(ledger(), request(revision, 'd'));
      await place(ledger(), request(revision, 'e'));
      await ledger().released(revision, 'b');
      const second = await markOf(ledger(), request(revision, 'f'), 'release-seen');
      await ledger().merge(revision, { resourceVersion: '40', pods: pods.slice(0, 1) }, second);
      expect(await ledger().counts(revision)).toMatchObject({ pending: 2 });
    });

    it('tells a pod that ended before the list began from one that ended since, though the clock was set back', async () => {
      const revision = newRevision();
      const pods = [pod('a', 'on-demand', 0), pod('b', 'spot', 0)];
      await seed(ledger(), revision, pods);
      await ledger().released(revision, 'a');
      await subject().setBack(60_000);
      const mark = await ledger().markList(revision);
      await ledger().released(revision, 'b');
      // The other observer has seen it, too.
      await ledger().released(revision, 'b');
      await ledger().merge(revision, { resourceVersion: '40', pods }, mark);
      expect(await ledger().entries(revision)).toMatchObject([{ token: 'a' }]);
      await markOf(ledger(), request(revision, 'c'), 'release-seen');
    });

    it('takes a list of any length', async () => {
      const revision = newRevision();
      const pods = Array.from({ length: 700 }, (_, n) => pod(`p${n}`, n % 3 === 0 ? 'on-demand' : 'spot', n));
      await seed(ledger(), revision, pods);
      expect(await ledger().counts(revision)).toEqual({ spot: 466, onDemand: 234, untyped: 0, pending: 0 });
      expect(await ledger().entries(revision)).toHaveLength(700);
      await seed(ledger(), revision, pods.slice(0, 10), '40');
      expect(await ledger().counts(revision)).toEqual({ spot: 6, onDemand: 4, untyped: 0, pending: 0 });
    });
  });

  describe('observers', () => {
    it('confirm a decision', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      const { type, rank } = await place(ledger(), request(revision, 'a'));
      expect(await ledger().seen(revision, pod('a', type, rank))).toBe('recorded');
      expect(await ledger().counts(revision)).toEqual({ spot: 0, onDemand: 1, untyped: 0, pending: 0 });
    });

    it('enter a pod that no decision was made for', async () => {
      const revision = newRevision();
      await ledger().seen(revision, { ...pod('uid', 'on-demand', 0), substitute: true });
      expect(await ledger().entries(revision)).toMatchObject([
        { token: 'uid', substitute: true, state: 'live' },
      ]);
    });

    it('may come twice and in any order', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      expect(await ledger().seen(revision, pod('a', 'spot', 1, '30'))).toBe('recorded');
      expect(await ledger().seen(revision, pod('a', 'spot', 1, '30'))).toBe('outdated');
      expect(await ledger().seen(revision, pod('a', 'spot', 0, '29'))).toBe('outdated');
      expect(await ledger().seen(revision, pod('a', 'spot', 2, '31'))).toBe('recorded');
      await ledger().released(revision, 'a');
      await ledger().released(revision, 'a');
      expect(await ledger().seen(revision, pod('a', 'spot', 2, '32'))).toBe('gone');
      expect(await ledger().counts(revision)).toEqual({ spot: 0, onDemand: 0, untyped: 0, pending: 0 });
    });

    it('may report the end of a pod before its beginning', async () => {
      const revision = newRevision();
      await ledger().released(revision, 'a');
      expect(await ledger().seen(revision, pod('a', 'spot', 0))).toBe('gone');
    });

    it('are believed again once an end is long past', async () => {
      const revision = newRevision();
      await ledger().released(revision, 'a');
      await subject().age(301_000);
      expect(await ledger().seen(revision, pod('a', 'spot', 0))).toBe('recorded');
    });
  });

  describe('cancel', () => {
    it('gives the place back, to the very next decision', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      const first = await place(ledger(), request(revision, 'a'));
      await ledger().cancel(revision, 'a');
      const { type, rank, replay } = await place(ledger(), request(revision, 'b'));
      expect({ type, rank, replay }).toEqual({ type: first.type, rank: first.rank, replay: false });
    });

    it('stops a decision that comes after it, but not the pod', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await ledger().cancel(revision, 'a');
      expect(await place(ledger(), request(revision, 'a'))).toMatchObject({
        type: 'on-demand',
        replay: true,
      });
      expect(await ledger().counts(revision)).toEqual({ spot: 0, onDemand: 0, untyped: 0, pending: 0 });
      expect(await ledger().seen(revision, pod('a', 'spot', 0))).toBe('recorded');
    });

    it('does not touch a pod that exists', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'spot', 0)]);
      await ledger().cancel(revision, 'a');
      expect(await ledger().counts(revision)).toMatchObject({ spot: 1 });
    });
  });

  describe('announce', () => {
    const alone = (token: string, type: CapacityType, rank: number) => ({
      token,
      type,
      rank,
      substitute: false,
    });

    it('enters a decision made alone, and the next one counts it', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await ledger().announce(revision, alone('a', 'spot', 3));
      expect(await ledger().lookup(revision, ['a'])).toMatchObject([
        { state: 'pending', type: 'spot', rank: 3 },
      ]);
      const next = await place(ledger(), request(revision, 'b'));
      expect(next).toMatchObject({ type: 'on-demand', counts: { spot: 1, onDemand: 1 } });
    });

    it('takes the place of the decision whose answer nobody got, whichever came first', async () => {
      for (const decidedFirst of [true, false]) {
        const revision = newRevision();
        await seed(ledger(), revision);
        const decide = () => place(ledger(), request(revision, 'a'));
        if (decidedFirst) expect(await decide()).toMatchObject({ type: 'on-demand', rank: 0 });
        await ledger().announce(revision, alone('a', 'spot', 4));
        if (!decidedFirst) expect(await decide()).toMatchObject({ type: 'spot', rank: 4, replay: true });
        expect(await ledger().counts(revision)).toEqual({ spot: 1, onDemand: 0, untyped: 0, pending: 1 });
      }
    });

    it('does not touch a pod that exists, has ended, or whose answer did not get through', async () => {
      const revision = newRevision();
      await seed(ledger(), revision, [pod('a', 'on-demand', 0)]);
      await ledger().released(revision, 'b');
      await ledger().cancel(revision, 'c');
      for (const token of ['a', 'b', 'c']) await ledger().announce(revision, alone(token, 'spot', 0));
      expect(await ledger().counts(revision)).toEqual({ spot: 0, onDemand: 1, untyped: 0, pending: 0 });
    });

    it('gives way to a cancel, and to the pod itself', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await ledger().announce(revision, alone('a', 'spot', 0));
      await ledger().announce(revision, alone('b', 'spot', 1));
      await ledger().cancel(revision, 'a');
      await ledger().seen(revision, pod('b', 'on-demand', 0));
      expect(await ledger().counts(revision)).toEqual({ spot: 0, onDemand: 1, untyped: 0, pending: 0 });
    });

    it('needs no list afterwards', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      for (let n = 0; n < 5; n++) {
        await ledger().announce(revision, alone(`alone-${n}`, n === 0 ? 'on-demand' : 'spot', n));
      }
      for (let n = 5; n < 10; n++) await place(ledger(), request(revision, `t${n}`));
      expect(await ledger().counts(revision)).toMatchObject({ spot: 7, onDemand: 3 });
    });
  });

  describe('breakers', () => {
    const spotWanted = { spotPercentage: 100, minOnDemand: 0 };

    it('send spot decisions to on-demand while open, and mark them', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await ledger().setBreaker(revision.workloadUid, { state: 'open', memo: 'since noon' }, 0);
      const answer = await place(ledger(), request(revision, 'a', { policy: spotWanted }));
      expect(answer).toMatchObject({ type: 'on-demand', rank: 0, substitute: true });
      expect(await place(ledger(), request(revision, 'a'))).toMatchObject({ substitute: true, replay: true });
      expect(await ledger().breaker(revision.workloadUid)).toEqual({
        state: 'open',
        memo: 'since noon',
        version: 1,
      });
    });

    it('do not mark what is on-demand anyway', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await ledger().setBreaker(revision.workloadUid, { state: 'open' }, 0);
      const policy = { spotPercentage: 0, minOnDemand: 0 };
      expect(await place(ledger(), request(revision, 'a', { policy }))).toMatchObject({ substitute: false });
    });

    it('let one spot decision through for each permit when half open', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await ledger().setBreaker(revision.workloadUid, { state: 'half-open', permits: 2 }, 0);
      const types: string[] = [];
      for (const token of ['a', 'b', 'c']) {
        types.push((await place(ledger(), request(revision, token, { policy: spotWanted }))).type);
      }
      expect(types).toEqual(['spot', 'spot', 'on-demand']);
      const now = await ledger().breaker(revision.workloadUid);
      expect(now).toMatchObject({ state: 'half-open', permits: 0, version: 3 });
      expect(now.permitTakenAtMs).toBeGreaterThan(1_600_000_000_000);
    });

    it('are not written over a permit taken since they were read', async () => {
      const revision = newRevision();
      await seed(ledger(), revision);
      await ledger().setBreaker(revision.workloadUid, { state: 'half-open', permits: 1 }, 0);
      await place(ledger(), request(revision, 'a', { policy: spotWanted }));
      const stale = await ledger().setBreaker(revision.workloadUid, { state: 'half-open', permits: 1 }, 1);
      expect(stale).toMatchObject({ kind: 'conflict', current: { permits: 0, version: 2 } });
      expect(await ledger().setBreaker(revision.workloadUid, { state: 'closed' }, 2)).toEqual({
        kind: 'written',
        version: 3,
      });
    });

    it('know nothing of the permits of an earlier attempt', async () => {
      const { workloadUid } = newRevision();
      await ledger().setBreaker(workloadUid, { state: 'half-open', permits: 1 }, 0);
      await ask(workloadUid, 0);
      const taken = await ledger().breaker(workloadUid);
      expect(taken.permitTakenAtMs).toBeDefined();
      await ledger().setBreaker(workloadUid, { state: 'half-open', permits: 1 }, taken.version);
      const armed = await ledger().breaker(workloadUid);
      expect(armed.permitTakenAtMs).toBe(taken.permitTakenAtMs);
      await ledger().setBreaker(workloadUid, { state: 'open' }, armed.version);
      await ledger().setBreaker(workloadUid, { state: 'half-open', permits: 1 }, armed.version + 1);
      expect(await ledger().breaker(workloadUid)).toEqual({
        state: 'half-open',
        permits: 1,
        version: armed.version + 2,
      });
      // The one that took it then takes one again.
      expect(await ask(workloadUid, 0)).toMatchObject({ type: 'spot' });
      expect(await ask(workloadUid, 1)).toMatchObject({ substitute: true });
    });

    it('are closed until one is written', async () => {
      expect(await ledger().breaker('nobody')).toEqual({ state: 'closed', version: 0 });
    });

    it('of a pool hold for all its workloads but one that was given a permit', async () => {
      const [revision, armed] = [newRevision(), newRevision()];
      const pool = `pool-${revision.workloadUid}`;
      await seed(ledger(), revision);
      await seed(ledger(), armed);
      expect(ledger().isPoolOpen(pool)).toBe(false);
      await ledger().openPool(pool, 60_000);
      expect(ledger().isPoolOpen(pool)).toBe(true);
      await ledger().setBreaker(armed.workloadUid, { state: 'half-open', permits: 1 }, 0);
      const more = { policy: spotWanted, pool };
      expect(await place(ledger(), request(revision, 'a', more))).toMatchObject({ substitute: true });
      expect(await place(ledger(), request(armed, 'a', more))).toMatchObject({ type: 'spot' });
      expect(await place(ledger(), request(armed, 'b', more))).toMatchObject({ substitute: true });
      await ledger().closePool(pool);
      expect(ledger().isPoolOpen(pool)).toBe(false);
      expect(await place(ledger(), request(revision, 'b', more))).toMatchObject({ type: 'spot' });
    });
  });

  describe('steer', () => {
    it('gives the ordinal its type unless the breaker is open', async () => {
      const { workloadUid } = newRevision();
      expect(await ask(workloadUid, 0)).toEqual({ kind: 'steered', type: 'spot', substitute: false });
      await ledger().setBreaker(workloadUid, { state: 'open' }, 0);
      expect(await ask(workloadUid, 0)).toEqual({ kind: 'steered', type: 'on-demand', substitute: true });
      const wanted = { wanted: 'on-demand' as const };
      expect(await ask(workloadUid, 1, wanted)).toEqual({
        kind: 'steered',
        type: 'on-demand',
        substitute: false,
      });
    });

    it('takes one permit for one token', async () => {
      const { workloadUid } = newRevision();
      await ledger().setBreaker(workloadUid, { state: 'half-open', permits: 1 }, 0);
      expect(await ask(workloadUid, 0, { dryRun: true })).toMatchObject({ type: 'spot' });
      expect(await ask(workloadUid, 0)).toMatchObject({ type: 'spot' });
      expect(await ask(workloadUid, 0)).toMatchObject({ type: 'spot' });
      expect(await ask(workloadUid, 1)).toMatchObject({ substitute: true });
    });

    it('goes where the volumes are', async () => {
      const { workloadUid } = newRevision();
      await ledger().setReach(workloadUid, new Map([[7, 'unknown']]));
      await ledger().setReach(
        workloadUid,
        new Map([
          [0, 'on-demand'],
          [1, 'both'],
          [2, 'unknown'],
          [3, 'spot'],
        ]),
      );
      await ledger().setBreaker(workloadUid, { state: 'open' }, 0);
      expect(await ask(workloadUid, 0)).toEqual({ kind: 'steered', type: 'on-demand', substitute: false });
      expect(await ask(workloadUid, 1)).toEqual({ kind: 'steered', type: 'on-demand', substitute: true });
      expect(await ask(workloadUid, 2)).toEqual({ kind: 'unsteered' });
      expect(await ask(workloadUid, 3)).toEqual({ kind: 'steered', type: 'spot', substitute: false });
      expect(await ask(workloadUid, 7)).toMatchObject({ kind: 'steered' });
    });
  });

  it('forgets a ReplicaSet that is gone', async () => {
    const revision = newRevision();
    const owner = { uid: revision.workloadUid, name: 'web' };
    await seed(ledger(), revision, [pod('a', 'spot', 0)]);
    await ledger().rememberReplicaSet(revision.replicaSetUid, { owner, ...plenty });
    await ledger().remove(revision);
    expect(await ledger().entries(revision)).toEqual([]);
    expect(await ledger().replicaSet(revision.replicaSetUid)).toBeUndefined();
    expect(await ledger().decide(request(revision, 'b'))).toMatchObject({ reason: 'unseeded' });
  });
}
