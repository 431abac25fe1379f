import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { deletionCost, enabledLabel, foreignKeys, readPodMark, targetSpot } from '@spotalis/core';
import { rebalance, settled, spotPercentage } from '../testbed/repair.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import { manifest, optedInNamespace, type Pod, splitOf, typeOf, Workload } from '../workloads/workload.ts';
import { burstWith, expectExactBurst, expectOnTargetBut, expectSteeredInTime } from '../testbed/burst.ts';

const policy = { spotPercentage: 80, minOnDemand: 3 };

describe('without a controller', () => {
  let testbed: Testbed;
  let workload: Workload;

  beforeAll(async () => {
    testbed = await openTestbed({ delayAnswersMs: 200, patient: true, configuration: { rebalance } });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it('a burst in which all controllers die is exact (B1)', async () => {
    const { controllers } = testbed.installation;
    const burst = { name: 'web', namespace: 'throughout', replicas: 200, policy };
    workload = await burstWith(testbed, burst, {
      after: 50,
      strike: () => Promise.all(controllers.map(({ component }) => component.kill('SIGKILL'))),
    });
    const split = await workload.splitWhenCreated(200);
    expectOnTargetBut(await expectSteeredInTime(testbed, burst), workload, split);
  }, 60_000);

  it('a burst that none of them sees is exact (B1)', async () => {
    await expectExactBurst(testbed, 150);
  }, 60_000);

  it('growth and scale-down are exact at every size (B1, B2)', async () => {
    await workload.ready(200);
    for (const replicas of [120, 40, 150, 90]) {
      await workload.scale(replicas);
      expect(await workload.splitWhenCreated(replicas)).toEqual(workload.exactly(replicas));
      await workload.ready(replicas);
    }
  }, 90_000);

  it('pods that a user deletes are made up for exactly (B4)', async () => {
    const chosen = (await workload.pods()).filter((pod) => typeOf(pod) === 'spot').slice(0, 30);
    const uidOf = ({ metadata }: Pod): string => metadata?.uid ?? '';
    const gone = new Set(chosen.map(uidOf));
    await Promise.all(
      chosen.map(({ metadata }) => testbed.cluster.api.delete('Pod', `throughout/${metadata?.name}`)),
    );
    const pods = await waitFor('the deleted pods to be replaced', async () => {
      const now = await workload.pods();
      return now.length === 90 && !now.some((pod) => gone.has(uidOf(pod))) ? now : undefined;
    });
    expect(splitOf(pods)).toEqual(workload.exactly(90));
  }, 60_000);

  it('scale-downs stay exact once they are back, and the ledger agrees with the pods (B2)', async () => {
    await workload.ready(90);
    await Promise.all(testbed.installation.controllers.map(({ component }) => component.start()));
    for (const replicas of [60, 31, 8, 25]) {
      await workload.scale(replicas);
      expect(await workload.splitWhenCreated(replicas)).toEqual(workload.exactly(replicas));
      await workload.ready(replicas);
    }
    const { spot, onDemand } = workload.exactly(25);
    const revision = await workload.revision();
    await waitFor('the ledger to hold the pods and nothing else', () => testbed.ledger.counts(revision), {
      until: (counts) => counts.spot === spot && counts.onDemand === onDemand && counts.pending === 0,
    });
    expect(testbed.evictions()).toBe(0);
  }, 90_000);

  it('growth after a change of the policy is exact at every size (B1, B2)', async () => {
    const before = { spotPercentage: 80, minOnDemand: 0 };
    const after = { spotPercentage: 60, minOnDemand: 0 };
    const declaration = { name: 'web', namespace: 'ranks', replicas: 10, policy: before };
    await (await testbed.declare(declaration)).ready(10);
    const changed = new Workload(testbed.cluster.api, { ...declaration, policy: after });
    await changed.patch(spotPercentage(after.spotPercentage));
    await settled(changed, { spot: 6, onDemand: 4 });
    const revision = await changed.revision();
    await waitFor('ranks and costs of the new policy, on the pods and in the ledger', async () => {
      const entries = await testbed.ledger.entries(revision);
      const ranks = new Map(entries.map(({ token, rank }) => [token, rank]));
      return (await changed.pods()).every(({ metadata: { annotations = {} } = {} }) => {
        const { token, type, rank } = readPodMark(annotations);
        if (token === null || type === null || rank === null || ranks.get(token) !== rank) return false;
        return annotations[foreignKeys.podDeletionCost] === String(deletionCost(after, type, rank));
      });
    });
    await Promise.all(testbed.installation.controllers.map(({ component }) => component.kill('SIGKILL')));
    for (const replicas of [20, 16, 10, 7, 3, 12]) {
      await changed.scale(replicas);
      expect(await changed.splitWhenCreated(replicas)).toEqual(changed.exactly(replicas));
      await changed.ready(replicas);
    }
  }, 150_000);

  it('pods from before on a node that says nothing are counted, and growth goes on exactly (B1)', async () => {
    const { api } = testbed.cluster;
    const [bare = '', ...others] = (await api.list('Node')).map(({ metadata }) => metadata?.name ?? '');
    const cordon = (unschedulable: boolean) =>
      Promise.all(others.map((name) => api.patch('Node', name, { spec: { unschedulable } })));
    await cordon(true);
    await api.patch('Node', bare, { metadata: { labels: { 'karpenter.sh/capacity-type': null } } });
    const sixty = { spotPercentage: 60, minOnDemand: 1 };
    const declaration = { name: 'web', namespace: 'untyped', replicas: 6, policy: sixty };
    const managed = manifest(declaration);
    await api.apply([
      optedInNamespace('untyped'),
      { ...managed, metadata: { ...managed.metadata, labels: { [enabledLabel]: 'false' } } },
    ]);
    const adopted = new Workload(api, declaration);
    await adopted.ready(6);
    await cordon(false);
    await adopted.patch({ metadata: { labels: { [enabledLabel]: 'true' } } });
    for (const replicas of [20, 12, 20, 9, 21]) {
      await adopted.scale(replicas);
      const { spot, unsteered } = await adopted.splitWhenCreated(replicas);
      if (replicas >= 20)
        expect({ spot, unsteered }).toEqual({ spot: targetSpot(sixty, replicas), unsteered: 6 });
      await adopted.ready(replicas);
    }
  }, 90_000);
});
