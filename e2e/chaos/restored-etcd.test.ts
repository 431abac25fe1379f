import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { expectOnTargetBut, expectSteeredInTime } from '../testbed/burst.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';

const policy = { spotPercentage: 70, minOnDemand: 2 };

describe('after etcd was restored from a backup, without a bump of its revision', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    // Whoever leads goes on leading while the control plane starts, however long that takes.
    const leaderElection = { namespace: 'spotalis-system', leaseDuration: '120s', renewDeadline: '110s' };
    testbed = await openTestbed({ patient: true, configuration: { controller: { leaderElection } } });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it('the ledger holds what is there, and growth and a scale-down are exact', async () => {
    const burst = { name: 'web', namespace: 'restored', replicas: 20, policy };
    const web = await testbed.declare(burst);
    await web.ready(20);
    const backup = await testbed.cluster.backUpEtcd();
    await web.scale(60);
    await web.ready(60);
    const revision = await web.revision();

    await backup.restore();
    await web.ready(20);
    await waitFor('the ledger to hold 20 pods', () => testbed.ledger.counts(revision), {
      timeoutMs: 120_000,
      intervalMs: 500,
      until: ({ spot, onDemand }) => spot + onDemand === 20,
    });
    for (const replicas of [40, 10]) {
      await web.scale(replicas);
      const split = await web.splitWhenCreated(replicas);
      expectOnTargetBut(await expectSteeredInTime(testbed, burst), web, split);
      await web.ready(replicas);
    }
  }, 300_000);
});
