import { describe, expect, it } from '@jest/globals';
import { aDeployment, aManagedCluster, aPod, aReplicaSet } from '../../../testing/objects.ts';
import { FakeLedger } from '../../../testing/ledger.ts';
import { FakeQueue } from '../../../testing/queue.ts';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';
import { agreementWith } from './agreement.ts';
import { Outage } from './outage.ts';
import { Resync } from './resync.ts';

const revision = { workloadUid: 'web-uid', replicaSetUid: 'web-1-uid' };
const MINUTE_MS = 60_000;

function resyncOf(
  cluster: Cluster,
  { isLeader = true, mayWrite = true, isFollowed = (): boolean => true } = {},
) {
  const ledger = new FakeLedger();
  const queue = new FakeQueue();
  const listed: { uid: string; atMs: number }[] = [];
  const resync = new Resync({
    cluster,
    ledger,
    queue,
    outage: new Outage({
      began: () => undefined,
      ended: () => undefined,
      now: () => queue.nowMs,
      random: () => 1,
    }),
    agrees: agreementWith(cluster, isFollowed),
    list: ({ metadata }) => {
      listed.push({ uid: metadata.uid, atMs: queue.nowMs });
      return Promise.resolve({ resourceVersion: '9', pods: [] });
    },
    mayWrite: () => mayWrite,
    isLeader: () => isLeader,
    onLedgerChange: () => undefined,
    random: () => 0.5,
  });
  resync.start();
  const pass = (ms: number) => queue.pass(ms, (uid) => resync.resync(uid));
  return { resync, ledger, queue, listed, pass };
}

const placeOf = (name: string) =>
  ({ token: name, type: 'spot', rank: 0, substitute: false, state: 'live', resourceVersion: '1' }) as const;

function aClusterWithTwo(): Cluster {
  const cluster = aManagedCluster();
  for (const token of ['a', 'b']) {
    cluster.pods.upsert(aPod(token, { node: 'spot-1', mark: { token, type: 'spot', rank: 0 } }), true);
  }
  return cluster;
}

/** Listed once, and trusted from then on. */
async function atRest(options: Parameters<typeof resyncOf>[1] = {}) {
  const cluster = aClusterWithTwo();
  const stage = resyncOf(cluster, options);
  stage.ledger.holding = [placeOf('a'), placeOf('b')];
  stage.resync.spread();
  await stage.pass(MINUTE_MS);
  stage.listed.length = 0;
  return { ...stage, cluster };
}

const verbs = (ledger: FakeLedger) => ledger.calls.map(({ verb }) => verb);

describe('the resync', () => {
  it('asks for the mark before the list, and merges with it', async () => {
    const { resync, ledger, pass } = resyncOf(aManagedCluster());
    resync.soon(resync.revisions.keys());
    await pass(0);
    expect(verbs(ledger)).toEqual(['markList', 'merge']);
    expect(ledger.calls.every((call) => call.revision.replicaSetUid === revision.replicaSetUid)).toBe(true);
  });

  it('lists each ReplicaSet about once a minute on the leader while its ledger is not as its pods are', async () => {
    const { resync, listed, pass } = resyncOf(aClusterWithTwo());
    resync.spread();
    await pass(10 * MINUTE_MS);
    expect(listed.length).toBeGreaterThanOrEqual(9);
    expect(listed.length).toBeLessThanOrEqual(10);
  });

  it('does not list by the clock what agrees with the watched pods, for at most twenty minutes', async () => {
    const { listed, pass } = await atRest();
    await pass(9 * MINUTE_MS);
    expect(listed).toEqual([]);
    await pass(14 * MINUTE_MS);
    expect(listed).toHaveLength(1);
  });

  it.each([
    ['a confirmation that was lost', [placeOf('a'), { ...placeOf('b'), state: 'pending' as const }]],
    ['a release that was lost', [placeOf('a'), placeOf('b'), placeOf('gone')]],
    ['a pod that the ledger does not hold', [placeOf('a')]],
    ['a type that is another', [placeOf('a'), { ...placeOf('b'), type: 'on-demand' as const }]],
    ['a rank that is another', [placeOf('a'), { ...placeOf('b'), rank: 3 }]],
    ['a substitute that is none', [placeOf('a'), { ...placeOf('b'), substitute: true }]],
  ])('finds %s within a period', async (_, holding) => {
    const { ledger, listed, pass } = await atRest();
    ledger.holding = holding;
    await pass(1.2 * MINUTE_MS);
    expect(listed).toHaveLength(1);
  });

  it('confirms by a list what the ledger was told since', async () => {
    const { resync, listed, pass } = await atRest();
    resync.touched('web-1-uid');
    await pass(1.2 * MINUTE_MS);
    expect(listed).toHaveLength(1);
    await pass(5 * MINUTE_MS);
    expect(listed).toHaveLength(1);
  });

  it('lists while the watch of pods says nothing', async () => {
    const { listed, pass } = await atRest({ isFollowed: () => false });
    await pass(5 * MINUTE_MS);
    expect(listed.length).toBeGreaterThanOrEqual(4);
  });

  it('lists though it was trusted when the ledger may have lost entries', async () => {
    const { resync, listed, pass } = await atRest();
    resync.soon(resync.revisions.keys());
    await pass(1_000);
    expect(listed).toHaveLength(1);
  });

  it('lists nothing by the clock on a standby', async () => {
    const { listed, pass } = resyncOf(aManagedCluster(), { isLeader: false });
    await pass(10 * MINUTE_MS);
    expect(listed).toEqual([]);
  });

  it('lists on every replica what was lost, spread over time', async () => {
    const cluster = aManagedCluster();
    for (let i = 0; i < 40; i++) cluster.replicaSets.upsert(aReplicaSet(`more-${i}`), true);
    const { resync, listed, pass } = resyncOf(cluster, { isLeader: false });
    resync.soon(resync.revisions.keys());
    await pass(MINUTE_MS);
    expect(listed).toHaveLength(41);
    expect(listed.at(-1)!.atMs).toBeGreaterThanOrEqual(1_000);
  });

  it('lists at once when a workload becomes ours, since nobody told of its pods before', async () => {
    const cluster = aManagedCluster();
    cluster.deployments.upsert(aDeployment({ labels: {} }), true);
    const { listed, pass } = resyncOf(cluster, { isLeader: false });
    cluster.deployments.upsert(aDeployment(), false);
    await pass(0);
    expect(listed).toEqual([{ uid: 'web-1-uid', atMs: 0 }]);
  });

  it('does not list a ReplicaSet that has just been made', async () => {
    const cluster = aManagedCluster();
    const { listed, pass } = resyncOf(cluster);
    cluster.replicaSets.upsert(aReplicaSet('web-2'), false);
    await pass(1_000);
    expect(listed).toEqual([]);
    await pass(2 * MINUTE_MS);
    expect(listed.map(({ uid }) => uid)).toContain('web-2-uid');
  });

  it('leaves alone what wants no pods and has none, until it does again', async () => {
    const cluster = aManagedCluster();
    cluster.replicaSets.upsert(aReplicaSet('web-1', { replicas: 0 }), true);
    const { resync, listed, pass } = resyncOf(cluster);
    resync.spread();
    await pass(5 * MINUTE_MS);
    expect(listed).toEqual([]);
    cluster.replicaSets.upsert(aReplicaSet('web-1', { replicas: 2 }), false);
    await pass(2 * MINUTE_MS);
    expect(listed.length).toBeGreaterThan(0);
  });

  it('goes on with what wants no pods while some are left', async () => {
    const cluster = aManagedCluster();
    cluster.replicaSets.upsert(aReplicaSet('web-1', { replicas: 0 }), true);
    cluster.pods.upsert(aPod('a'), true);
    const { resync, listed, pass } = resyncOf(cluster);
    resync.soon(resync.revisions.keys());
    await pass(0);
    expect(listed).toHaveLength(1);
  });

  it('stops when the label is removed', async () => {
    const cluster = aManagedCluster();
    const { resync, listed, pass } = resyncOf(cluster);
    resync.spread();
    cluster.deployments.upsert(aDeployment({ labels: {} }), false);
    await pass(5 * MINUTE_MS);
    expect(listed).toEqual([]);
  });

  it('removes the ledger with its ReplicaSet, also when the owner went first', async () => {
    const cluster = aManagedCluster();
    const { resync, ledger, pass } = resyncOf(cluster);
    cluster.deployments.remove('shop/web');
    cluster.replicaSets.remove('shop/web-1');
    await pass(0);
    expect(ledger.calls).toEqual([{ verb: 'remove', revision }]);
    expect(resync.revisions.size).toBe(0);
  });

  it('removes nothing in read-only mode, and keeps nothing of what is gone', async () => {
    const cluster = aManagedCluster();
    const { resync, ledger, pass } = resyncOf(cluster, { mayWrite: false });
    resync.soon(resync.revisions.keys());
    await pass(0);
    expect(resync.revisions.size).toBe(1);
    cluster.replicaSets.remove('shop/web-1');
    await pass(0);
    expect(resync.revisions.size).toBe(0);
    expect(ledger.calls).toEqual([]);
  });

  it('removes nothing of a workload that is not ours', async () => {
    const cluster = aManagedCluster();
    const { ledger, pass } = resyncOf(cluster);
    cluster.deployments.upsert(aDeployment({ labels: {} }), false);
    cluster.replicaSets.remove('shop/web-1');
    await pass(MINUTE_MS);
    expect(ledger.calls).toEqual([]);
  });

  it('tries again while the ledger is down, and still removes what went meanwhile', async () => {
    const cluster = aManagedCluster();
    const { ledger, pass } = resyncOf(cluster);
    ledger.isDown = true;
    cluster.replicaSets.remove('shop/web-1');
    await pass(10 * MINUTE_MS);
    expect(ledger.refused).toBeGreaterThan(10);
    expect(ledger.refused).toBeLessThan(100);
    ledger.isDown = false;
    await pass(MINUTE_MS);
    expect(ledger.calls).toEqual([{ verb: 'remove', revision }]);
  });
});
