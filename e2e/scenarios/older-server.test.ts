/** @needs redis control-plane @also kubernetes-1.30 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { annotate, settled, spotPercentage, ten } from '../testbed/repair.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import { manifest, optedInNamespace, splitOf, Workload } from '../workloads/workload.ts';
import { Floors } from './floors.ts';

describe('with an API server that cannot stream lists, and the ledger inside the webhook', () => {
  let testbed: Testbed;
  let floors: Floors;

  beforeAll(async () => {
    testbed = await openTestbed({
      gated: ({ path }) => (path.includes('sendInitialEvents=true') ? 400 : 'pass'),
      webhooks: 1,
      controllers: 1,
      configuration: {
        redis: { url: 'memory://' },
        rebalance: { cooldown: '1s', minPodAge: '1s' },
      },
    });
    floors = await Floors.follow(testbed.cluster);
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it('pods are split exactly, and moved when the share changes', async () => {
    const workload = await testbed.declare(ten('older', 70));
    expect(splitOf(await workload.ready(10))).toMatchObject({ spot: 7, onDemand: 3 });
    await workload.patch(spotPercentage(80));
    await settled(workload, { spot: 8, onDemand: 2 });
    const streamed = testbed.gate.calls.filter(({ path }) => path.includes('sendInitialEvents=true'));
    expect(streamed.length).toBeGreaterThan(0);
  }, 120_000);

  it('pods from before a workload was managed count by their nodes', async () => {
    const declaration = { ...ten('adopted', 50), replicas: 6 };
    const { metadata, ...rest } = manifest(declaration);
    await testbed.cluster.api.apply([
      optedInNamespace('adopted'),
      { ...rest, metadata: { ...metadata, labels: {} } },
    ]);
    const workload = new Workload(testbed.cluster.api, declaration);
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
