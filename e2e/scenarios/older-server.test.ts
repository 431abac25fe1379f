/** @needs redis control-plane @also kubernetes-1.30 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { annotate, settled, spotPercentage, ten } from '../testbed/repair.ts';
import { openStage, type Stage } from '../testbed/stage.ts';
import { manifest, optedInNamespace, splitOf, Workload } from '../workloads/workload.ts';
import { Floors } from './floors.ts';

describe('with an API server that cannot stream lists, and the ledger inside the webhook', () => {
  let stage: Stage;
  let floors: Floors;

  beforeAll(async () => {
    stage = await openStage({
      gated: ({ path }) => (path.includes('sendInitialEvents=true') ? 400 : 'pass'),
      webhooks: 1,
      controllers: 1,
      configuration: {
        redis: { url: 'memory://' },
        rebalance: { cooldown: '1s', minPodAge: '1s' },
      },
    });
    floors = await Floors.follow(stage.cluster);
  }, 120_000);

  afterAll(async () => {
    await stage?.close();
  });

  it('pods are split exactly, and moved when the share changes', async () => {
    const workload = await stage.declare(ten('older', 70));
    expect(splitOf(await workload.ready(10))).toMatchObject({ spot: 7, onDemand: 3 });
    await workload.patch(spotPercentage(80));
    await settled(workload, { spot: 8, onDemand: 2 });
    const streamed = stage.gate.calls.filter(({ path }) => path.includes('sendInitialEvents=true'));
    expect(streamed.length).toBeGreaterThan(0);
  }, 120_000);

  it('pods from before a workload was managed count by their nodes', async () => {
    const declaration = { ...ten('adopted', 50), replicas: 6 };
    const { metadata, ...rest } = manifest(declaration);
    await stage.cluster.api.apply([
      optedInNamespace('adopted'),
      { ...rest, metadata: { ...metadata, labels: {} } },
    ]);
    const workload = new Workload(stage.cluster.api, declaration);
    expect(splitOf(await workload.ready(6))).toMatchObject({ unsteered: 6 });
    // Not moved: only the new ones make up for them.
    await workload.patch(annotate({ 'spotalis.io/paused': 'true' }));
    await workload.patch({ metadata: { labels: { 'spotalis.io/enabled': 'true' } } });
    await workload.scale(16);
    const pods = await workload.ready(16);
    expect(pods.filter(({ spec }) => spec.nodeName?.startsWith('spot-'))).toHaveLength(8);
  }, 60_000);

  it('every workload keeps its floor at each eviction', async () => {
    expect(await floors.breaches()).toEqual([]);
  });
});
