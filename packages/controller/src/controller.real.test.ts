import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { deployment, managedNamespace, type Replica, Stage } from './testing/stage.ts';

let stage: Stage;
let replicas: readonly Replica[];

beforeAll(async () => {
  stage = await Stage.start();
  const { api } = stage.cluster;
  await api.apply(managedNamespace('shop'));
  await api.apply(
    deployment('shop', 'web', 6, { 'spotalis.io/spot-percentage': '70', 'spotalis.io/min-on-demand': '1' }),
  );
  replicas = await Promise.all(['controller-a', 'controller-b'].map((name) => stage.startReplica(name)));
}, 120_000);

afterAll(async () => {
  await stage?.stop();
}, 60_000);

/** What the leader shows of one workload. */
async function shown(name: string, state: string): Promise<{ spot: number; onDemand: number }> {
  const leader = await stage.leader(replicas);
  const labels = { namespace: 'shop', workload: name, workload_type: 'Deployment', state };
  return {
    spot:
      (await stage.metric(leader, 'spotalis_workload_replicas', { ...labels, capacity_type: 'spot' })) ?? -1,
    onDemand:
      (await stage.metric(leader, 'spotalis_workload_replicas', { ...labels, capacity_type: 'on-demand' })) ??
      -1,
  };
}

describe('two controllers on a real cluster', () => {
  it('elect one leader', async () => {
    const leader = await stage.leader(replicas);
    const standby = replicas.find(({ name }) => name !== leader.name)!;
    const lease = { name: 'spotalis-controller' };
    expect(await stage.metric(leader, 'leader_election_master_status', lease)).toBe(1);
    expect(await stage.metric(standby, 'leader_election_master_status', lease)).toBe(0);
  }, 40_000);

  it('put pods without a mark into the ledger as what their nodes are', async () => {
    expect((await stage.agreement('shop', 'web', 6)).types.size).toBe(6);
  }, 30_000);

  it('show what there is, what should be and what the ledger holds', async () => {
    const { actual } = await stage.truth('shop', 'web');
    await waitFor('the gauges to follow', async () => {
      expect(await shown('web', 'actual')).toEqual(actual);
      expect(await shown('web', 'reserved')).toEqual(actual);
      return true;
    });
    // ceil(6 * 70 %) = 5, and one has to stay.
    expect(await shown('web', 'desired')).toEqual({ spot: 5, onDemand: 1 });
    const leader = await stage.leader(replicas);
    expect(await stage.metric(leader, 'spotalis_workload_drift', { workload: 'web' })).toBe(actual.spot - 5);
  }, 40_000);

  it('free the places of pods that go, and see new ones', async () => {
    await stage.cluster.api.scale('Deployment', 'shop/web', 2);
    await stage.agreement('shop', 'web', 2);
    await stage.cluster.api.scale('Deployment', 'shop/web', 9);
    expect((await stage.agreement('shop', 'web', 9)).types.size).toBe(9);
  }, 40_000);

  it('say once, on the workload, what is wrong with its annotations', async () => {
    const { api } = stage.cluster;
    await api.apply(deployment('shop', 'odd', 1, { 'spotalis.io/spot-percentage': '170' }));
    const told = () =>
      api
        .list<{ regarding: { name: string }; reason: string; note: string }>('events.k8s.io/v1/Event', {
          namespace: 'shop',
        })
        .then((events) =>
          events.filter(({ regarding, reason }) => regarding.name === 'odd' && reason === 'InvalidPolicy'),
        );
    const [event] = await waitFor('an Event', told, { until: (events) => events.length > 0 });
    expect(event!.note).toMatch(/spot-percentage.*"170".*Example/);
    const leader = await stage.leader(replicas);
    await waitFor(
      'the gauge',
      async () => (await stage.metric(leader, 'spotalis_policy_invalid', { workload: 'odd' })) === 1,
    );
    await stage.agreement('shop', 'odd', 1);
    expect(await told()).toHaveLength(1);
  }, 40_000);

  it('fill a ledger again that was flushed under them', async () => {
    await stage.redis.node(0).command('FLUSHALL');
    expect((await stage.agreement('shop', 'web', 9)).types.size).toBe(9);
  }, 30_000);

  it('live on without Redis, and catch up with what happened meanwhile', async () => {
    const pids = replicas.map((replica) => stage.pid(replica));
    const inMode = (mode: string) => async () => {
      const all = await Promise.all(
        replicas.map((replica) => stage.metric(replica, 'spotalis_ledger_mode', { mode })),
      );
      return all.every((value) => value === 1);
    };
    await stage.redis.kill();
    await stage.cluster.api.scale('Deployment', 'shop/web', 4);
    await waitFor('each to say that its ledger is away', inMode('degraded'));
    await waitFor('4 pods', async () => (await stage.truth('shop', 'web')).types.size === 4);
    await waitFor('the gauges to follow', async () => (await shown('web', 'reserved')).spot === -1);
    await stage.redis.restart();
    await stage.agreement('shop', 'web', 4);
    await waitFor('each to say that its ledger is back', inMode('ready'));
    expect(replicas.map((replica) => stage.pid(replica))).toEqual(pids);
  }, 60_000);

  it('leave neither a ledger nor a series of a workload that is deleted', async () => {
    const { replicaSets } = await stage.agreement('shop', 'odd', 1);
    const keys = () => stage.redis.node(0).command('KEYS', `*${replicaSets[0]!.replicaSetUid}:meta`);
    expect(await keys()).toHaveLength(1);
    await stage.cluster.api.delete('Deployment', 'shop/odd');
    await waitFor('the ledger to go', keys, { until: (left) => Array.isArray(left) && left.length === 0 });
    await waitFor('the series to go', async () => (await shown('odd', 'actual')).spot === -1);
    const leader = await stage.leader(replicas);
    expect(await stage.metric(leader, 'spotalis_policy_invalid', { workload: 'odd' })).toBeUndefined();
  }, 30_000);

  it('live on through a restart of the API server', async () => {
    const pids = replicas.map((replica) => stage.pid(replica));
    await stage.cluster.restartComponent('kube-apiserver');
    await stage.cluster.api.scale('Deployment', 'shop/web', 7);
    await stage.agreement('shop', 'web', 7, 40_000);
    expect(replicas.map((replica) => stage.pid(replica))).toEqual(pids);
    await stage.leader(replicas);
  }, 90_000);

  it('have another leader within 20 s after the first was killed', async () => {
    const leader = await stage.leader(replicas);
    const standby = replicas.filter(({ name }) => name !== leader.name);
    const beganMs = performance.now();
    await stage.cluster.killComponent(leader.name, 'SIGKILL');
    await stage.leader(standby, 20_000);
    process.stdout.write(`takeover after kill -9: ${((performance.now() - beganMs) / 1000).toFixed(1)} s\n`);
    replicas = standby;
    const { actual } = await stage.truth('shop', 'web');
    await waitFor('the new leader to count', async () => {
      expect(await shown('web', 'actual')).toEqual(actual);
      return true;
    });
  }, 40_000);

  it('hand over at once on a clean stop', async () => {
    const [leader] = replicas;
    const other = await stage.startReplica('controller-c');
    process.stdout.write(`RSS: leader ${stage.rssMb(leader!)} MB, fresh standby ${stage.rssMb(other)} MB\n`);
    const beganMs = performance.now();
    await stage.cluster.killComponent(leader!.name, 'SIGTERM');
    replicas = [other];
    await stage.leader(replicas, 10_000);
    process.stdout.write(`takeover after SIGTERM: ${((performance.now() - beganMs) / 1000).toFixed(1)} s\n`);
    expect(stage.cluster.component(leader!.name).log(3)).toMatch(/"message":"stopped"/);
  }, 40_000);

  it('count without a ledger and without a Lease where the one webhook has the ledger inside', async () => {
    const alone = await stage.startReplica('controller-alone', {
      SPOTALIS_REDIS_URL: 'memory://',
      SPOTALIS_CONTROLLER_LEADER_ELECTION_ENABLED: 'false',
    });
    const { actual } = await stage.truth('shop', 'web');
    const spot = { workload: 'web', state: 'actual', capacity_type: 'spot' };
    await waitFor('the count', async () => {
      expect(await stage.metric(alone, 'spotalis_workload_replicas', spot)).toBe(actual.spot);
      return true;
    });
    const state = await (await fetch(`http://127.0.0.1:${alone.ports.debug}/debug/state`)).json();
    expect(state).toMatchObject({
      ledger: 'inside the webhook',
      leader: { isLeader: true },
      observation: null,
    });
    const readyz = await fetch(`http://127.0.0.1:${alone.ports.health}/readyz?verbose`);
    expect(await readyz.text()).toMatch(/^\[\+\] ledger: inside the webhook, .* no substitutes$/m);
    await stage.cluster.killComponent(alone.name, 'SIGTERM');
  }, 30_000);

  it('end when the Lease is taken from them, so that they come back as a standby', async () => {
    const leader = await stage.leader(replicas);
    const taken = { spec: { holderIdentity: 'somebody-else' } };
    await stage.cluster.api.patch('Lease', 'spotalis-system/spotalis-controller', taken);
    await waitFor('the process to end', () => stage.pid(leader) === undefined);
    expect(stage.cluster.component(leader.name).log(20)).toMatch(/LEASE_LOST/);
  }, 30_000);
});
