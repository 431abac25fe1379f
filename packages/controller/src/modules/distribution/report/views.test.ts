import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { membersOf, podViewOf, standingOf, targetSpot, workloadViewOf } from '@spotalis/core';
import { Metrics } from '@spotalis/runtime';
import * as fc from 'fast-check';
import { Rooms } from '../../../kernel/cluster/rooms.ts';
import { aCluster, aDeployment, aNode, aPod, aReplicaSet, silent } from '../../../testing/objects.ts';
import { Narrator } from './narrator.ts';
import { viewConditions } from './views.ts';

/** What the dashboard plots of a Deployment, told what a look at the stores finds. */
async function plotted(percentage: number, revisions: readonly (readonly string[])[]) {
  const cluster = aCluster();
  const rooms = new Rooms(cluster);
  cluster.nodes.upsert(aNode('spot-1', 'spot'), true);
  cluster.nodes.upsert(aNode('od-1', 'on-demand'), true);
  for (const [index, nodes] of revisions.entries()) {
    const owner = `web-${index}`;
    cluster.replicaSets.upsert(aReplicaSet(owner, { replicas: nodes.length }), true);
    for (const [number, node] of nodes.entries()) {
      cluster.pods.upsert(aPod(`${owner}-${number}`, { owner, node }), true);
    }
  }
  const replicas = revisions.flat().length;
  const workload = aDeployment({ replicas });
  const pods = cluster.podsOf(workload);
  const view = workloadViewOf(workload, {
    changes: { policyChangedAtMs: null, replicasChangedAtMs: null, podGoneAtMs: null },
    pods,
    replicaSets: cluster.replicaSetsOf(workload),
    ledgers: new Map(),
  });
  const numbers = { spotPercentage: percentage, minOnDemand: 0 };
  const members = membersOf(
    view,
    pods.map((pod) => podViewOf(pod, cluster)),
    rooms.views(new Map()),
  );
  const standing = standingOf(view, numbers, members);
  const narrator = new Narrator({
    recorder: { record: () => undefined },
    metrics: { blocked: () => undefined },
    logger: silent,
  });
  const trace = {
    verdict: { kind: 'nothing' },
    reason: 'Paused',
    facts: {},
    drought: null,
    waiting: {},
  } as const;
  narrator.tell('Deployment/shop/web', workload, { ...trace, standing }, 0);
  const metrics = new Metrics();
  viewConditions(metrics, () => narrator.conditions(0));
  const [, value] = /^spotalis_workload_drift\{[^}]*\} (\S+)$/m.exec(await text(metrics.page())) ?? [];
  return { value: Number(value), drift: standing.drift };
}

const nodesOf = (spot: number, onDemand: number): readonly string[] => [
  ...Array.from({ length: spot }, () => 'spot-1'),
  ...Array.from({ length: onDemand }, () => 'od-1'),
];

describe('the drift that is plotted', () => {
  it('is none in a rollout of 3 and 7 pods at half, each as its share says', async () => {
    expect(await plotted(50, [nodesOf(2, 1), nodesOf(4, 3)])).toEqual({ value: 0, drift: 0 });
  });

  it('is the one that repair goes by, whatever the ReplicaSets', async () => {
    const revisions = fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 100 }), revisions, async (percentage, counts) => {
        const { value, drift } = await plotted(
          percentage,
          counts.map(([spot, onDemand]) => nodesOf(spot, onDemand)),
        );
        const numbers = { spotPercentage: percentage, minOnDemand: 0 };
        const target = counts.reduce((sum, [spot, more]) => sum + targetSpot(numbers, spot + more), 0);
        expect(value).toBe(drift);
        expect(value).toBe(counts.reduce((sum, [spot]) => sum + spot, 0) - target);
      }),
      { numRuns: 100 },
    );
  });
});
