import { describe, expect, it } from '@jest/globals';
import {
  aCluster,
  aDeployment,
  aManagedCluster,
  aNamespace,
  aNode,
  aPod,
  aReplicaSet,
  aStatefulSet,
} from '../../../testing/objects.ts';
import { FakeLedger } from '../../../testing/ledger.ts';
import { FakeQueue } from '../../../testing/queue.ts';
import { Announcements } from './announcements.ts';
import { Announcer } from './announcer.ts';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';
import { Observer } from './observer.ts';
import { Outage } from './outage.ts';

const spot = (token: string, rank = 0) => ({ token, type: 'spot', rank });
const revision = { workloadUid: 'web-uid', replicaSetUid: 'web-1-uid' };

/** The observers on a cluster, up to the ledger. */
function watch(cluster: Cluster, mayWrite: () => boolean = () => true) {
  const ledger = new FakeLedger();
  const queue = new FakeQueue();
  const announcements = new Announcements();
  const told: string[] = [];
  const changed: string[] = [];
  const outage: Outage = new Outage({
    began: () => told.push('began'),
    ended: () => {
      told.push('ended');
      announcer.catchUp();
    },
    now: () => queue.nowMs,
    random: () => 1,
  });
  const announcer = new Announcer({
    announcements,
    ledger,
    queue,
    outage,
    mayWrite,
    onLedgerChange: (uid) => changed.push(uid),
  });
  const observer = new Observer({
    cluster,
    announcements,
    deliver: (places, urgency) => announcer.deliver(places, urgency),
  });
  observer.start();
  const pass = (ms = 0) => queue.pass(ms, (place) => announcer.announce(place));
  return { ledger, queue, announcements, announcer, pass, told, changed };
}

describe('the observers', () => {
  it('tell of a marked pod as its mark says, under its reservation', async () => {
    const cluster = aManagedCluster();
    const { ledger, pass } = watch(cluster);
    const pod = aPod('a', { mark: spot('t1', 2), node: 'od-1' });
    cluster.pods.upsert(pod, false);
    await pass();
    const { resourceVersion } = pod.metadata;
    expect(ledger.calls).toEqual([
      {
        verb: 'seen',
        revision,
        pod: { token: 't1', type: 'spot', rank: 2, substitute: false, resourceVersion },
      },
    ]);
  });

  it('tell of a pod that admission never saw as its node is, under its UID, and as of no type before it has one', async () => {
    const cluster = aManagedCluster();
    const { ledger, pass } = watch(cluster);
    cluster.pods.upsert(aPod('a'), false);
    await pass();
    cluster.pods.upsert(aPod('a', { node: 'od-1' }), false);
    await pass();
    expect(ledger.calls).toMatchObject([
      { verb: 'seen', pod: { token: 'a-uid', type: null } },
      { verb: 'seen', pod: { token: 'a-uid', type: 'on-demand' } },
    ]);
  });

  it('tell the type of unmarked pods as soon as their node is labelled', async () => {
    const cluster = aManagedCluster();
    cluster.nodes.upsert(aNode('new-1', undefined), true);
    const { ledger, pass } = watch(cluster);
    cluster.pods.upsert(aPod('a', { node: 'new-1' }), false);
    await pass();
    cluster.nodes.upsert(aNode('new-1', 'spot'), false);
    await pass();
    expect(ledger.calls).toMatchObject([
      { verb: 'seen', pod: { token: 'a-uid', type: null } },
      { verb: 'seen', pod: { token: 'a-uid', type: 'spot' } },
    ]);
  });

  it('tell once of a pod whose status changes many times', async () => {
    const cluster = aManagedCluster();
    const { ledger, pass } = watch(cluster);
    for (const node of [undefined, 'spot-1', 'spot-1', 'spot-1']) {
      cluster.pods.upsert(aPod('a', { mark: spot('t1'), ...(node === undefined ? {} : { node }) }), false);
      await pass();
    }
    expect(ledger.calls).toHaveLength(1);
  });

  it('tell once of an end that shows first as terminating, then as gone', async () => {
    const cluster = aManagedCluster();
    const { ledger, pass, announcements, changed } = watch(cluster);
    cluster.pods.upsert(aPod('a', { mark: spot('t1') }), false);
    await pass();
    cluster.pods.upsert(aPod('a', { mark: spot('t1'), terminating: true }), false);
    await pass();
    cluster.pods.remove('shop/a');
    await pass();
    expect(ledger.calls.map(({ verb }) => verb)).toEqual(['seen', 'released']);
    expect(announcements.size).toBe(0);
    // The leader looks at what is reserved after each.
    expect(changed).toEqual(['web-1-uid', 'web-1-uid']);
  });

  it.each(['Succeeded', 'Failed'])('free the place of a pod that is %s', async (phase) => {
    const cluster = aManagedCluster();
    const { ledger, pass } = watch(cluster);
    cluster.pods.upsert(aPod('a', { mark: spot('t1') }), false);
    await pass();
    cluster.pods.upsert(aPod('a', { mark: spot('t1'), phase }), false);
    await pass();
    expect(ledger.calls).toMatchObject([{ verb: 'seen' }, { verb: 'released', revision, token: 't1' }]);
  });

  it('free the places of pods that a relist no longer has', async () => {
    const cluster = aManagedCluster();
    const { ledger, pass } = watch(cluster);
    for (const name of ['a', 'b', 'c']) cluster.pods.upsert(aPod(name, { mark: spot(name) }), false);
    await pass();
    cluster.pods.keepOnly(new Set(['shop/b']));
    await pass();
    expect(ledger.held).toEqual(['b']);
  });

  it('tell of both pods when one was made again under its name while nobody watched', async () => {
    const cluster = aManagedCluster();
    const { ledger, pass } = watch(cluster);
    const first = aPod('a', { mark: spot('t1') });
    const second = aPod('a', { mark: spot('t2') });
    cluster.pods.upsert(first, false);
    await pass();
    cluster.pods.upsert({ ...second, metadata: { ...second.metadata, uid: 'other' } }, false);
    await pass();
    expect(ledger.held).toEqual(['t2']);
  });

  it('know a pod that comes before its ReplicaSet and its Deployment', async () => {
    const cluster = aCluster();
    const { ledger, pass } = watch(cluster);
    cluster.pods.upsert(aPod('a', { mark: spot('t1') }), false);
    cluster.replicaSets.upsert(aReplicaSet(), false);
    cluster.deployments.upsert(aDeployment(), false);
    await pass();
    expect(ledger.calls).toEqual([]);
    cluster.namespaces.upsert(aNamespace(), false);
    await pass();
    expect(ledger.held).toEqual(['t1']);
  });

  it('tell what was there before they started', async () => {
    const cluster = aManagedCluster();
    cluster.pods.upsert(aPod('a', { mark: spot('t1') }), true);
    cluster.pods.upsert(aPod('b', { mark: spot('t2'), phase: 'Failed' }), true);
    const { ledger, pass, queue } = watch(cluster);
    await pass();
    expect(ledger.calls.map(({ verb }) => verb)).toEqual(['seen', 'released']);
    expect(queue.added.every(({ options }) => (options.priority ?? 0) < 0)).toBe(true);
  });

  it('stop touching a workload whose label is removed, and begin again when it is back', async () => {
    const cluster = aManagedCluster();
    const { ledger, pass } = watch(cluster);
    for (const name of ['a', 'b', 'c']) cluster.pods.upsert(aPod(name, { mark: spot(name) }), false);
    await pass();
    expect(ledger.calls.splice(0)).toHaveLength(3);
    cluster.deployments.upsert(aDeployment({ labels: {} }), false);
    cluster.pods.upsert(aPod('a', { mark: spot('a'), terminating: true }), false);
    cluster.pods.remove('shop/b');
    cluster.pods.upsert(aPod('d', { mark: spot('d') }), false);
    await pass();
    expect(ledger.calls).toEqual([]);
    cluster.deployments.upsert(aDeployment(), false);
    await pass();
    // Also of what was told before: nobody knows what became of the ledger meanwhile.
    expect(ledger.held).toEqual(['c', 'd']);
  });

  it('stop touching everything in a namespace whose label is removed', async () => {
    const cluster = aManagedCluster();
    const { ledger, pass } = watch(cluster);
    cluster.namespaces.upsert(aNamespace({}), false);
    cluster.pods.upsert(aPod('a', { mark: spot('t1') }), false);
    await pass();
    expect(ledger.calls).toEqual([]);
  });

  it('have nothing to tell of StatefulSets, whose ordinals decide', async () => {
    const cluster = aManagedCluster();
    cluster.statefulSets.upsert(aStatefulSet({ name: 'db' }), true);
    const { ledger, pass } = watch(cluster);
    cluster.pods.upsert(aPod('db-0', { owner: 'db', ownerKind: 'StatefulSet', node: 'spot-1' }), false);
    await pass();
    expect(ledger.calls).toEqual([]);
  });

  it('lose nothing while the ledger is down, and ask it seldom', async () => {
    const cluster = aManagedCluster();
    const { ledger, pass, told } = watch(cluster);
    for (const name of ['a', 'b', 'c']) cluster.pods.upsert(aPod(name, { mark: spot(name) }), false);
    await pass();
    ledger.isDown = true;
    cluster.pods.remove('shop/a');
    cluster.pods.upsert(aPod('b', { mark: { token: 'b', type: 'on-demand', rank: 7 } }), false);
    for (const name of ['d', 'e']) cluster.pods.upsert(aPod(name, { mark: spot(name) }), false);
    cluster.pods.remove('shop/e');
    await pass(10 * 60_000);
    // Four places, half the outage's age apart and never more than 10 s: about 65 attempts each.
    expect(ledger.refused).toBeGreaterThan(4);
    expect(ledger.refused).toBeLessThan(4 * 90);
    ledger.isDown = false;
    await pass(10_000);
    expect(ledger.held).toEqual(['b', 'c', 'd']);
    expect(ledger.calls.slice(3)).toHaveLength(4);
    expect(told).toEqual(['began', 'ended']);
  });

  it('catch up at once when the first call gets through', async () => {
    const cluster = aManagedCluster();
    const { ledger, pass, queue } = watch(cluster);
    ledger.isDown = true;
    for (let i = 0; i < 50; i++) {
      cluster.pods.upsert(aPod(`p${i}`, { mark: spot(`p${i}`) }), false);
      await pass(100);
    }
    await pass(60_000);
    ledger.isDown = false;
    await pass(Math.min(...queue.waiting().values()));
    expect(ledger.held).toHaveLength(50);
  });

  it('keep nothing of pods that come and go in read-only mode, which may last for ever', async () => {
    const cluster = aManagedCluster();
    const { announcements, ledger, pass } = watch(cluster, () => false);
    cluster.pods.upsert(aPod('a', { mark: spot('t1') }), false);
    await pass();
    expect(announcements.size).toBe(1);
    cluster.pods.remove('shop/a');
    await pass();
    expect(announcements.size).toBe(0);
    expect(ledger.calls).toEqual([]);
  });

  it('write nothing in read-only mode, and tell everything when it ends', async () => {
    let readOnly = true;
    const cluster = aManagedCluster();
    const { ledger, pass, announcer } = watch(cluster, () => !readOnly);
    cluster.pods.upsert(aPod('a', { mark: spot('t1') }), false);
    await pass(60_000);
    expect(ledger.calls).toEqual([]);
    readOnly = false;
    announcer.catchUp();
    await pass();
    expect(ledger.held).toEqual(['t1']);
  });
});
