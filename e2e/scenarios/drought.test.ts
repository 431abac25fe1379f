import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KubeObject, waitFor } from '@spotalis/cluster';
import { podKeys, policyKeys } from '@spotalis/core';
import { PodHistory } from '../workloads/history.ts';
import { droughtOf, eventsOn, killLeader, verdictOn } from '../testbed/moves.ts';
import { openTestbed, quickTakeover, type Testbed } from '../testbed/testbed.ts';
import {
  isReady,
  optedInNamespace,
  type Pod,
  splitOf,
  typeOf,
  type Workload,
} from '../workloads/workload.ts';
import { Floors } from './floors.ts';
import { spotalis } from './kubectl.ts';

/** Short, so that a drought lasts seconds: pods wait 5 s instead of 2 minutes, and 3 s instead of 1 to the next try. */
const fallbackAfterMs = 5_000;
const configuration = {
  controller: {
    leaderElection: quickTakeover,
  },
  fallback: { after: `${fallbackAfterMs}ms`, backoff: { initial: '3s', max: '10s' } },
  rebalance: {
    cooldown: '100ms',
    minPodAge: '1s',
    maxMovesPerMinute: 1_000,
    maxInFlight: { namespace: 50, node: 50, cluster: 100 },
  },
};

const isSubstitute = ({ metadata }: Pod): boolean => metadata?.annotations?.[podKeys.substitute] === 'true';

/** Waits until as many pods live, all Ready, as the policy splits them. */
async function exact(workload: Workload, replicas: number, timeoutMs = 120_000): Promise<void> {
  let seen = {};
  await waitFor(
    `${workload.path} to be split exactly`,
    async () => {
      const { spot } = (seen = splitOf(await workload.ready(replicas, timeoutMs)));
      return spot === workload.exactly(replicas).spot;
    },
    { timeoutMs, intervalMs: 200 },
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; it is ${JSON.stringify(seen)}`);
  });
}

interface Row {
  readonly drought: { readonly since: string } | null;
}

async function row(testbed: Testbed, namespace: string): Promise<Row | undefined> {
  const { stdout } = await spotalis(testbed, 'status', '-n', namespace, '-o', 'json');
  return (JSON.parse(stdout) as { readonly workloads: readonly Row[] }).workloads[0];
}

/** Redis is where breakers are, and nobody who asks with `kubectl spotalis` looks there. */
async function toldWhileItLasts(testbed: Testbed, namespace: string): Promise<void> {
  // It is tried again every few seconds here, so that it may be open or half-open when somebody asks.
  await waitFor('the drought to be told', async () => (await row(testbed, namespace))?.drought?.since, {
    timeoutMs: 20_000,
  });
  const status = await spotalis(testbed, 'status', '-n', namespace);
  expect(status.stderr).toMatch(
    /^No spot capacity for 1 workload, for \d+s at the longest, as \S+ told \d+s ago\.$/m,
  );
  expect(status.stdout).toMatch(/\(spot (dry|tried again), 28 substitutes\)/);
  const { stdout: told } = await spotalis(testbed, 'explain', 'deployment/web', '-n', namespace);
  expect(told).toMatch(/^Drought\n {2}No spot capacity since \d{4}-/m);
  const { stdout: planned } = await spotalis(
    testbed,
    'plan',
    'deployment/web',
    '-n',
    namespace,
    '--replicas',
    '44',
  );
  expect(planned).toContain('Scaling creates 4 pods: 4 on-demand.');
  const { stdout: found } = await spotalis(testbed, 'doctor', '-o', 'json');
  expect(found).not.toContain('drought');
}

async function toldToBeOver(testbed: Testbed, namespace: string): Promise<void> {
  await waitFor('the end to be told', async () => (await row(testbed, namespace))?.drought === null, {
    timeoutMs: 20_000,
  });
  const { stdout } = await spotalis(testbed, 'explain', 'deployment/web', '-n', namespace);
  expect(stdout).not.toContain('Drought\n');
  const written = testbed.writes().filter(({ name }) => name === 'spotalis-droughts');
  expect(new Set(written.map(({ what }) => what))).toEqual(new Set(['patch configmaps']));
  process.stdout.write(`droughts told: ${written.length} writes\n`);
}

describe('a drought', () => {
  let testbed: Testbed;
  let floors: Floors;

  beforeAll(async () => {
    testbed = await openTestbed({ patient: true, configuration });
    floors = await Floors.follow(testbed.cluster);
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it('in the middle of 10 -> 40 costs one waiting period, and the way back one eviction for each substitute', async () => {
    const namespace = 'burst';
    const policy = { spotPercentage: 70, minOnDemand: 2 };
    const workload = await testbed.declare({ name: 'web', namespace, replicas: 10, policy });
    await workload.ready(10);
    const { cluster } = testbed;
    await Promise.all([workload.scale(40), cluster.withdrawCapacity('spot')]);
    const withdrawnAtMs = performance.now();
    // Pods created one after another wait at the same time: 28 in turn would take minutes.
    await workload.ready(40, fallbackAfterMs + 30_000);
    const bridgedMs = performance.now() - withdrawnAtMs;
    const removals = testbed.evictions(namespace);
    const evicted = testbed.cluster.auditLog
      .read(({ objectRef }) => objectRef?.subresource === 'eviction' && objectRef.namespace === namespace)
      .map(({ objectRef }) => objectRef?.name);
    expect(new Set(evicted).size).toBe(evicted.length);
    expect(removals).toBeGreaterThan(0);
    expect(splitOf(await workload.pods()).spot).toBe(0);
    const substitutes = (await workload.pods()).filter(isSubstitute).length;
    expect(substitutes).toBe(workload.exactly(40).spot);
    expect(await eventsOn(testbed, workload, 'FallbackStarted')).toHaveLength(1);
    await toldWhileItLasts(testbed, namespace);

    const history = await PodHistory.follow(testbed.cluster, namespace);
    const returnedAtMs = performance.now();
    await cluster.returnCapacity('spot');
    await exact(workload, 40);
    const returnMs = performance.now() - returnedAtMs;
    await waitFor(
      'the end of the drought',
      async () => (await eventsOn(testbed, workload, 'FallbackEnded')).length > 0,
    );
    await verdictOn(testbed, workload, 'Balanced');
    await toldToBeOver(testbed, namespace);
    await history.stop();
    expect(testbed.evictions(namespace) - removals).toBe(substitutes);
    const spots = history.states.map(({ spot }) => spot);
    expect(spots.every((spot, index) => spot >= Math.max(0, ...spots.slice(0, index)))).toBe(true);
    process.stdout.write(
      `drought: ${removals} stuck pods, all Running after ${Math.round(bridgedMs)} ms; ${substitutes} substitutes back after ${Math.round(returnMs)} ms\n`,
    );
    // Its pods would be bridged and moved back once more in the next drought, and counted there.
    await workload.scale(0);
  }, 240_000);

  it('of 30 workloads with one placement is waited for by the first few; a new leader and an empty ledger know of it', async () => {
    const { cluster, redis, ledger } = testbed;
    const policy = { spotPercentage: 50, minOnDemand: 1 };
    const declare = (namespace: string, name: string, more = {}) =>
      testbed.declare({ name, namespace, replicas: 4, policy, ...more });
    await cluster.withdrawCapacity('spot');

    const names = Array.from({ length: 30 }, (_, index) => `web-${index}`);
    const first = await Promise.all(names.slice(0, 4).map((name) => declare('first', name)));
    const ordered = await declare('ordered', 'db', { kind: 'StatefulSet' });
    const patient = await declare('patient', 'web');
    await patient.patch({ metadata: { annotations: { [policyKeys.spotFallbackAfter]: 'never' } } });
    await Promise.all([...first, ordered].map((workload) => workload.ready(4, fallbackAfterMs + 30_000)));
    const waited = testbed.evictions('first');
    expect(waited).toBe(first.length * 2);

    // Each webhook asks once a second which pools are open.
    const { webhooks } = testbed.installation;
    await waitFor(
      'every webhook to know',
      () => testbed.installation.admissionMetric('spotalis_open_pools'),
      {
        until: (known) => known === webhooks.length,
      },
    );
    const declaredAtMs = performance.now();
    const later = await Promise.all(names.slice(4).map((name) => declare('later', name)));
    await Promise.all(later.map((workload) => workload.ready(4, fallbackAfterMs + 30_000)));
    const laterMs = performance.now() - declaredAtMs;
    process.stdout.write(
      `30 workloads: ${waited} pods of the first ${first.length} waited, ${testbed.evictions('later')} of the other 26, whose 104 pods ran after ${Math.round(laterMs)} ms\n`,
    );
    expect(testbed.evictions('later')).toBe(0);

    // The leader dies and the ledger loses everything, while the breakers are open.
    const [known] = first;
    if (known === undefined) throw new Error('none');
    const { workloadUid } = await known.revision();
    await killLeader(testbed);
    await redis.node(0).command('FLUSHALL');
    await waitFor(
      'the breaker to be known again',
      async () => (await ledger.breaker(workloadUid)).state !== 'closed',
      { timeoutMs: 60_000 },
    );
    await known.patch({
      spec: { template: { metadata: { annotations: { version: '2' } } } },
    });
    await known.scale(8);
    // Eight may be Ready before the last old ones are replaced, and a pod that comes after the drought needs no move.
    await waitFor(
      'the rollout to be complete',
      async () => {
        const pods = await known.pods();
        const isNew = ({ metadata }: Pod) => metadata?.annotations?.['version'] === '2';
        return pods.length === 8 && pods.every((pod) => isNew(pod) && isReady(pod));
      },
      { timeoutMs: fallbackAfterMs + 30_000 },
    );
    // A rollout and a scale-up in a drought know of it: none of their pods waits.
    expect(testbed.evictions('first')).toBe(waited);
    expect(splitOf(await known.pods()).spot).toBe(0);

    expect(testbed.evictions('patient')).toBe(0);
    expect(splitOf((await patient.pods()).filter(({ spec }) => spec.nodeName === undefined)).spot).toBe(2);

    const bridged = [...first.slice(1), ...later, ordered];
    const substitutes = known.exactly(8).spot + bridged.length * known.exactly(4).spot;
    const before = testbed.evictions();
    const aloneBefore = await testbed.decidedAlone();
    const returnedAtMs = performance.now();
    await cluster.returnCapacity('spot');
    const all = [...bridged, patient];
    await Promise.all([exact(known, 8, 150_000), ...all.map((workload) => exact(workload, 4, 150_000))]);
    expect(testbed.evictions('patient')).toBe(0);
    // None is in vain, although a webhook may learn a second late that there is capacity again. What a webhook decides
    // alone, on a machine that stalls, may have to be moved once more.
    const alone = (await testbed.decidedAlone()) - aloneBefore;
    const evictions = testbed.evictions() - before;
    expect(evictions).toBeGreaterThanOrEqual(substitutes);
    expect(evictions).toBeLessThanOrEqual(substitutes + alone);
    process.stdout.write(
      `back: ${evictions} evictions for ${substitutes} substitutes, ${alone} decided alone, ${Math.round(performance.now() - returnedAtMs)} ms\n`,
    );
  }, 280_000);

  it('of on-demand capacity is told loudly, and never repaired onto spot', async () => {
    const { cluster } = testbed;
    const policy = { spotPercentage: 50, minOnDemand: 2 };
    const namespace = 'short';
    const workload = await testbed.declare({ name: 'web', namespace, replicas: 4, policy });
    await workload.ready(4);
    const history = await PodHistory.follow(cluster, namespace);
    await cluster.withdrawCapacity('on-demand');
    await verdictOn(testbed, workload, 'OnDemandShort');
    await waitFor(
      'the Event',
      async () => (await eventsOn(testbed, workload, 'OnDemandShort')).length === 1,
      {
        timeoutMs: 120_000,
      },
    );
    await cluster.returnCapacity('on-demand');
    await exact(workload, 4);
    await history.stop();
    expect(testbed.evictions(namespace)).toBe(0);
    for (const { spot } of history.states) expect(spot).toBeLessThanOrEqual(2);
  }, 240_000);

  it('that the cloud announces on many nodes is not waited for', async () => {
    const { cluster } = testbed;
    const namespace = 'announced';
    const policy = { spotPercentage: 50, minOnDemand: 1 };
    const nodes = Array.from({ length: 6 }, (_, index) => `spot-${index + 1}`);
    const key = 'aws-node-termination-handler/spot-itn';
    await Promise.all(nodes.map((node) => cluster.taint(node, { key, effect: 'NoSchedule' })));
    const workload = await testbed.declare({ name: 'web', namespace, replicas: 4, policy });
    // Far longer than the test waits.
    await workload.patch({ metadata: { annotations: { [policyKeys.spotFallbackAfter]: '10m' } } });
    await workload.ready(4, 30_000);
    expect(splitOf(await workload.pods())).toEqual({ spot: 0, onDemand: 4, unsteered: 0 });
    expect(testbed.evictions(namespace)).toBe(2);
    const [started] = droughtOf(testbed, workload);
    expect(started).toMatchObject({ reason: 'FallbackStarted', told: true });

    await Promise.all(nodes.map((node) => cluster.untaint(node, key)));
    await exact(workload, 4, 60_000);
    expect(testbed.evictions(namespace)).toBe(2 + 2);
  }, 120_000);

  it('is not meant where a volume reaches one type only: the pod goes there at once', async () => {
    const { api } = testbed.cluster;
    const namespace = 'volumes';
    const policy = { spotPercentage: 100, minOnDemand: 0 };
    const claim = {
      accessModes: ['ReadWriteOnce'],
      storageClassName: '',
      resources: { requests: { storage: '1Gi' } },
    };
    await api.apply(optedInNamespace(namespace));
    for (const [ordinal, type] of ['on-demand', 'spot'].entries()) {
      const terms = [
        { matchExpressions: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: [type] }] },
      ];
      const volume = `${namespace}-${ordinal}`;
      await api.apply({
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: volume },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: claim.accessModes,
          hostPath: { path: '/tmp' },
          claimRef: { namespace, name: `data-db-${ordinal}` },
          nodeAffinity: { required: { nodeSelectorTerms: terms } },
        },
      } as KubeObject);
      await api.apply({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: `data-db-${ordinal}`, namespace },
        spec: { ...claim, volumeName: volume },
      } as KubeObject);
    }
    const template = { metadata: { name: 'data' }, spec: claim };
    const db = await testbed.declare({
      kind: 'StatefulSet',
      name: 'db',
      namespace,
      replicas: 0,
      policy,
      spec: { podManagementPolicy: 'Parallel', volumeClaimTemplates: [template] },
    });
    const { metadata } = await api.get('StatefulSet', db.path);
    const steer = (ordinal: number) =>
      testbed.ledger.steer({
        workloadUid: metadata?.uid ?? '',
        ordinal,
        token: 'look',
        wanted: 'spot',
        dryRun: true,
      });
    const steered = (type: string) => ({ kind: 'steered', type, substitute: false });
    await waitFor('the ledger to know', () => steer(0), {
      until: (answer) => answer.kind === 'steered' && answer.type === 'on-demand',
      timeoutMs: 60_000,
    });
    expect(await Promise.all([steer(0), steer(1), steer(2)])).toEqual([
      steered('on-demand'),
      steered('spot'),
      steered('spot'),
    ]);
    await db.scale(2);
    const pods = await db.ready(2);
    expect(Object.fromEntries(pods.map((pod) => [pod.metadata?.name, typeOf(pod)]))).toEqual({
      'db-0': 'on-demand',
      'db-1': 'spot',
    });
    // Not only sent there.
    for (const pod of pods) expect(pod.spec.nodeName).toMatch(new RegExp(`^${typeOf(pod)}-`));
    expect(testbed.evictions(namespace)).toBe(0);
  }, 120_000);

  it('every workload keeps its floor at each eviction', async () => {
    expect(await floors.breaches()).toEqual([]);
  });
});
