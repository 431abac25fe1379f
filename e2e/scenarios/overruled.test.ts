import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { podKeys, policyKeys } from '@spotalis/core';
import { eventsOn, verdictOn } from '../testbed/moves.ts';
import { openTestbed, quickTakeover, type Testbed } from '../testbed/testbed.ts';
import { splitOf, typeOf } from '../workloads/workload.ts';
import { spotalis } from './kubectl.ts';
import { OtherWebhook } from './other-webhook.ts';

const configuration = {
  controller: { leaderElection: quickTakeover },
  fallback: { after: '5s', probe: 'none' },
  rebalance: {
    cooldown: '100ms',
    minPodAge: '1s',
    maxMovesPerMinute: 1_000,
    maxInFlight: { namespace: 50, node: 50, cluster: 100 },
  },
};

describe('where somebody else overrules', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    // Else ours would be asked again after the other one, and have the last word.
    testbed = await openTestbed({ patient: true, configuration, reinvocationPolicy: 'Never' });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  const explained = async (namespace: string): Promise<string> => {
    const { stdout } = await spotalis(testbed, 'explain', 'deployment/web', '-n', namespace);
    return stdout.replace(/\s+/g, ' ');
  };

  it('where pods go, moves end after three, and the field is named until it is put right', async () => {
    const namespace = 'elsewhere';
    const policy = { spotPercentage: 100, minOnDemand: 0 };
    const workload = await testbed.declare({ name: 'web', namespace, replicas: 8, policy });
    await workload.ready(8);
    const path = '/spec/nodeSelector/karpenter.sh~1capacity-type';
    const other = await OtherWebhook.install(
      testbed.cluster.api,
      { kind: 'Mutating', name: 'zz-all-spot', namespace },
      () => ({ allowed: true, patch: [{ op: 'add', path, value: 'spot' }] }),
    );
    await workload.patch({ metadata: { annotations: { [policyKeys.spotPercentage]: '50' } } });
    await verdictOn(testbed, workload, 'PlacementOverridden');
    expect(testbed.evictions(namespace)).toBe(3);
    const said = async () => (await eventsOn(testbed, workload, 'PlacementOverridden')).at(0)?.note;
    await waitFor('the Event', async () => (await said()) !== undefined);
    const field = 'spec.nodeSelector["karpenter.sh/capacity-type"] is "spot" instead of "on-demand"';
    expect(await said()).toContain(field);
    expect(await explained(namespace)).toContain(`No more moves: 3 replacements in a row`);
    expect(await explained(namespace)).toContain(field);

    // More pods that go elsewhere are no reason to try again.
    await workload.scale(10);
    await workload.ready(10);
    await verdictOn(testbed, workload, 'PlacementOverridden');
    await other.remove();
    await workload.patch({ spec: { template: { metadata: { annotations: { version: '2' } } } } });
    await verdictOn(testbed, workload, 'Balanced');
    await waitFor('the exact split', async () => splitOf(await workload.ready(10)).spot === 5);
    expect(testbed.evictions(namespace)).toBe(3);
  }, 180_000);

  it('what is written on pods, a drought is bridged all the same', async () => {
    const { api } = testbed.cluster;
    const namespace = 'refused';
    const policy = { spotPercentage: 50, minOnDemand: 1 };
    const workload = await testbed.declare({ name: 'web', namespace, replicas: 4, policy });
    const pod = (await workload.ready(4)).find((one) => typeOf(one) === 'on-demand');
    const other = await OtherWebhook.install(
      api,
      { kind: 'Validating', name: 'no-changes', namespace, operation: 'UPDATE' },
      ({ request: { userInfo } }) => ({
        allowed: !userInfo.username.startsWith('system:serviceaccount:spotalis'),
        message: 'pods are not to be changed',
      }),
    );
    const annotations = { [podKeys.capacityType]: 'spot' };
    await api.patch('Pod', `${namespace}/${pod?.metadata?.name}`, { metadata: { annotations } });
    const blocked = async () => (await eventsOn(testbed, workload, 'MoveBlocked')).at(0)?.note;
    await waitFor('the Event', async () => (await blocked()) !== undefined, { timeoutMs: 60_000 });
    expect(await blocked()).toMatch(/^AnnotationRefused: .*pods are not to be changed/);
    expect(await explained(namespace)).toContain('pods are not to be changed');

    await testbed.cluster.withdrawCapacity('spot');
    await workload.scale(8);
    expect(splitOf(await workload.ready(8, 60_000)).spot).toBe(0);
    expect(await eventsOn(testbed, workload, 'FallbackStarted')).toHaveLength(1);
    await other.remove();
    await testbed.cluster.returnCapacity('spot');
    await verdictOn(testbed, workload, 'Balanced');
    await waitFor('the exact split', async () => splitOf(await workload.ready(8)).spot === 4);
  }, 180_000);
});
