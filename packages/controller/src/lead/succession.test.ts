import { describe, expect, it } from '@jest/globals';
import type { Logger } from '@spotalis/runtime';
import { aDeployment, aManagedCluster, aPod } from '../testing/objects.ts';
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
    flights: {
      succeed: (unwhole) => {
        for (const one of unwhole) {
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
    now: () => 0,
    logger,
  });
  await new Promise((resolve) => setImmediate(resolve));
  return { inherited, nodes, afresh };
}

const ready = { node: 'spot-1', ready: true };

describe('a new leader', () => {
  it.each([
    ['is whole', [ready, ready], []],
    ['is whole beside a pod that failed', [ready, ready, { node: 'spot-1', phase: 'Failed' }], []],
    ['has too few pods', [ready], ['web-uid']],
    ['has a pod that is not Ready', [ready, { node: 'spot-1' }], ['web-uid']],
    ['has a pod on its way out', [ready, ready, { ...ready, terminating: true }], ['web-uid']],
  ])('counts the move that another may have begun of a workload that %s', async (_what, pods, inherited) => {
    expect((await afterTakeOver({}, pods)).inherited).toEqual(inherited);
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
