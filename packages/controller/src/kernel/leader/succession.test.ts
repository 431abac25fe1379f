import { describe, expect, it } from '@jest/globals';
import type { Logger } from '@spotalis/runtime';
import { Register } from '../disruption/register.ts';
import { stateOf } from '../disruption/state.ts';
import { aDeployment, aManagedCluster, aPod, aReplicaSet } from '../../testing/objects.ts';
import { takeOver } from './succession.ts';

const logger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => logger,
};

/** `spec`: of the Lease as it is read back; an error when it cannot be. */
async function afterTakeOver(spec: object | Error, pods: Parameters<typeof aPod>[1][], replicas = 2) {
  const cluster = aManagedCluster();
  cluster.deployments.upsert(aDeployment({ replicas }), true);
  for (const [index, pod] of pods.entries()) cluster.pods.upsert(aPod(`p${index}`, pod), true);
  const inherited: string[] = [];
  const nodes: string[] = [];
  let afresh = false;
  takeOver({
    cluster,
    register: {
      succeed: (suspects) => {
        for (const one of suspects) {
          inherited.push(one.workloadUid);
          nodes.push(...one.nodes);
        }
      },
      startAfresh: () => (afresh = true),
    },
    client: {
      get: () => (spec instanceof Error ? Promise.reject(spec) : Promise.resolve({ spec } as never)),
    },
    lease: { namespace: 'spotalis-system', name: 'lease', identity: 'me' },
    moveTimeoutMs: () => 600_000,
    now: () => NOW_MS,
    logger,
  });
  await new Promise((resolve) => setImmediate(resolve));
  return { inherited, nodes, afresh };
}

const NOW_MS = Date.UTC(2026, 0, 1, 0, 5);
const ago = (minutes: number): string => new Date(NOW_MS - minutes * 60_000).toISOString();

const ready = { node: 'spot-1', ready: true, createdAt: ago(60) };

describe('a new leader', () => {
  it.each([
    ['is whole', [ready, ready], []],
    ['is whole beside a pod that failed', [ready, ready, { node: 'spot-1', phase: 'Failed' }], []],
    ['has too few pods', [ready], ['web-uid']],
    [
      'has a pod that came lately and is not Ready',
      [ready, { node: 'spot-1', createdAt: ago(9) }],
      ['web-uid'],
    ],
    [
      'has a pod that has not been Ready for longer than a move lasts',
      [ready, { node: 'spot-1', createdAt: ago(10) }],
      [],
    ],
    ['has a pod on its way out', [ready, ready, { ...ready, terminating: true }], ['web-uid']],
  ])('counts the move that another may have begun of a workload that %s', async (_what, pods, inherited) => {
    expect((await afterTakeOver({}, pods)).inherited).toEqual(inherited);
  });

  it('has its budgets for others, however many workloads are unhealthy for ever', async () => {
    const register = new Register();
    const cluster = aManagedCluster();
    cluster.deployments.upsert(aDeployment({ replicas: 1 }), true);
    cluster.pods.upsert(aPod('fine', ready), true);
    for (let index = 0; index < 20; index++) {
      const [name, owner] = [`sick-${index}`, `sick-${index}-1`];
      cluster.deployments.upsert(aDeployment({ name, replicas: 3 }), true);
      cluster.replicaSets.upsert(aReplicaSet(owner, { owner: name }), true);
      // It crashes, it cannot leave its node, and a quota keeps the third away.
      cluster.pods.upsert(aPod(`${owner}-a`, { owner, node: 'spot-1', createdAt: ago(60) }), true);
      const stuck = { owner, node: 'spot-1', createdAt: ago(60), terminating: true, deletedAt: ago(30) };
      cluster.pods.upsert(aPod(`${owner}-b`, stuck), true);
    }
    const lease = { namespace: 'spotalis-system', name: 'lease', identity: 'me' };
    const client = { get: () => Promise.reject(new Error('no answer')) };
    const moveTimeoutMs = 600_000;
    takeOver({
      cluster,
      register,
      client,
      lease,
      moveTimeoutMs: () => moveTimeoutMs,
      now: () => NOW_MS,
      logger,
    });
    // Until a ReplicaSet would long have made up for a pod that another leader evicted.
    expect(register.count).toBe(20);
    const nowMs = NOW_MS + 30_000;
    for (const workload of cluster.workloads()) {
      const { uid } = workload.metadata;
      register.follow(uid, stateOf(cluster, uid), { moveTimeoutMs, nowMs });
    }
    expect(register.count).toBe(0);
  });

  it('knows the nodes that pods are leaving, each once, and none of those that stay', async () => {
    const leaving = { ...ready, terminating: true };
    const pods = [ready, { node: 'od-1' }, leaving, leaving, { terminating: true }];
    expect((await afterTakeOver({}, pods)).nodes).toEqual(['spot-1']);
    expect((await afterTakeOver({}, [leaving, { ...leaving, node: 'od-1' }])).nodes).toEqual([
      'spot-1',
      'od-1',
    ]);
  });

  it.each([
    ['which it made itself and nobody else held', { holderIdentity: 'me', leaseTransitions: 0 }, true],
    ['which another one held before', { holderIdentity: 'me', leaseTransitions: 1 }, false],
    ['which is not its own any more', { holderIdentity: 'other', leaseTransitions: 0 }, false],
    ['which cannot be read', new Error('no answer'), false],
  ])('with a Lease %s starts afresh: %3$s', async (_what, spec, expected) => {
    expect((await afterTakeOver(spec, [ready, ready])).afresh).toBe(expected);
  });
});
