import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import { burstWith, creationsOf, driftOf, expectExactBurst, expectNoEvictionsBut } from '../testbed/burst.ts';

const policy = { spotPercentage: 70, minOnDemand: 3 };

describe('a burst while webhooks', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    // Long enough for two bursts more while one drains, on a slow machine too.
    const env = { webhook: { SPOTALIS_WEBHOOK_DRAIN_GRACE: '10s' } };
    testbed = await openTestbed({ delayAnswersMs: 200, patient: true, env });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it('lose one of three to SIGKILL is off by no more than the pods that were not steered (B9)', async () => {
    const replicas = 300;
    const burst = { name: 'web', namespace: 'killed', replicas, policy };
    const workload = await burstWith(testbed, burst, {
      after: 80,
      strike: () => testbed.cluster.killComponent('webhook-0'),
    });
    const split = await workload.splitWhenCreated(replicas);
    const { bypassed, refused } = await creationsOf(testbed, burst);
    expect(refused).toBe(0);
    // Somebody was being answered when it died, and those only.
    expect(bypassed).toBeGreaterThan(0);
    expect(bypassed).toBeLessThan(replicas / 3);
    expect(split.unsteered).toBe(bypassed);
    expect(Math.abs(driftOf(workload, split))).toBeLessThanOrEqual(bypassed);
    await expectExactBurst(testbed);
    await testbed.cluster.component('webhook-0').start();
    await expectExactBurst(testbed);
    expectNoEvictionsBut(testbed);
  }, 120_000);

  it('are drained one after the other loses no admission (B1)', async () => {
    const { webhooks, balancer } = testbed.installation;
    for (const [index, leaving] of webhooks.entries()) {
      const before = await testbed.admissions();
      let ended = false;
      const namespace = `drained-${index}`;
      const bursts = [await testbed.declare({ name: 'web-0', namespace, replicas: 60, policy })];
      await testbed.admitted(before + 20);
      const drained = leaving.component.kill('SIGTERM').then(() => {
        ended = true;
      });
      // The Service takes it off its list a little later: connections keep coming until then.
      await testbed.admitted(before + 40);
      balancer.spreadNewOver(webhooks.filter((one) => one !== leaving).map(({ port }) => port));
      while (!ended) {
        const name = `web-${bursts.length}`;
        const workload = await testbed.declare({ name, namespace, replicas: 60, policy });
        expect(await workload.splitWhenCreated(60)).toEqual(workload.exactly(60));
        bursts.push(workload);
      }
      await drained;
      expect(bursts.length).toBeGreaterThan(2);
      for (const workload of bursts)
        expect(await workload.splitWhenCreated(60)).toEqual(workload.exactly(60));
      const { bypassed, refused } = testbed.creations(namespace);
      expect({ bypassed, refused }).toEqual({ bypassed: 0, refused: 0 });
      await leaving.component.start();
      balancer.spreadNewOver(webhooks.map(({ port }) => port));
    }
    expectNoEvictionsBut(testbed);
  }, 240_000);

  it('are all away creates every pod unsteered, and the next is exact (B9)', async () => {
    const { webhooks } = testbed.installation;
    await Promise.all(webhooks.map(({ component }) => component.kill('SIGKILL')));
    const workload = await testbed.declare({ name: 'web', namespace: 'away', replicas: 40, policy });
    expect(await workload.splitWhenCreated(40)).toEqual({ spot: 0, onDemand: 0, unsteered: 40 });
    expect(await creationsOf(testbed, { namespace: 'away', replicas: 40 })).toMatchObject({
      bypassed: 40,
      refused: 0,
    });
    await workload.ready(40);
    await Promise.all(webhooks.map(({ component }) => component.start()));
    await expectExactBurst(testbed);
    // Those that came past us count by their nodes.
    await workload.scale(140);
    const pods = await workload.ready(140);
    const nodes = await testbed.cluster.api.list('Node', {
      labelSelector: 'karpenter.sh/capacity-type=spot',
    });
    const spotNodes = new Set(nodes.map(({ metadata }) => metadata?.name));
    expect(pods.filter(({ spec }) => spotNodes.has(spec.nodeName ?? ''))).toHaveLength(
      workload.exactly(140).spot,
    );
    expectNoEvictionsBut(testbed);
  }, 120_000);
});
