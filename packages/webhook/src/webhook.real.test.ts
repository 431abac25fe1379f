import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, type KubeObject, type RedisServers, startCluster, waitFor } from '@spotalis/cluster';
import { targetSpot } from '@spotalis/core';
import { type RunningService, startService } from './testing/service.ts';

interface Pod extends KubeObject {
  readonly metadata: NonNullable<KubeObject['metadata']> & { readonly name: string };
  readonly spec: { readonly nodeSelector?: Readonly<Record<string, string>> };
}

const optedIn = { 'spotalis.io/enabled': 'true' };
const capacityKey = 'karpenter.sh/capacity-type';

let cluster: Cluster;
let redis: RedisServers;
let service: RunningService;

beforeAll(async () => {
  cluster = await startCluster({ spotNodes: 2, onDemandNodes: 2 });
  redis = await cluster.startRedis();
  service = await startService({ kubeconfig: cluster.kubeconfig }, { SPOTALIS_REDIS_URL: redis.url });
  await cluster.api.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: optedIn } },
    registration(service),
  ]);
  await waitFor('the webhook to be called', async () => {
    const nobody = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: 'nobody',
      uid: 'nobody',
      controller: true,
    };
    await dryRun([nobody]);
    return service.log.some(({ reason }) => reason === 'OwnerMissing');
  });
}, 120_000);

afterAll(async () => {
  await service?.stop();
  await cluster?.stop();
}, 60_000);

function registration({ url, ca }: RunningService): KubeObject {
  const ownedByOurKinds =
    "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller && o.kind in ['ReplicaSet', 'StatefulSet'])";
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'spotalis' },
    webhooks: [
      {
        name: 'pods.spotalis.io',
        admissionReviewVersions: ['v1'],
        clientConfig: { url: `${url}/mutate`, caBundle: Buffer.from(ca).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }],
        namespaceSelector: { matchLabels: optedIn },
        matchConditions: [{ name: 'owned', expression: ownedByOurKinds }],
        failurePolicy: 'Ignore',
        timeoutSeconds: 2,
        reinvocationPolicy: 'Never',
        sideEffects: 'NoneOnDryRun',
      },
    ],
  } as KubeObject;
}

interface Wish {
  /** Percentage and floor. */
  readonly policy: readonly [number, number];
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: object;
}

function workload(
  kind: 'Deployment' | 'StatefulSet',
  name: string,
  replicas: number,
  wish: Wish,
): KubeObject {
  const [percentage, floor] = wish.policy;
  const annotations = {
    'spotalis.io/spot-percentage': String(percentage),
    'spotalis.io/min-on-demand': String(floor),
  };
  const labels = { app: name };
  const container = { name: 'app', image: 'registry.k8s.io/pause:3.10' };
  const template = {
    metadata: { labels },
    spec: { terminationGracePeriodSeconds: 0, containers: [container] },
  };
  const spec = {
    replicas,
    selector: { matchLabels: labels },
    template,
    ...(kind === 'StatefulSet' && { serviceName: name, podManagementPolicy: 'Parallel' }),
    ...wish.spec,
  };
  const metadata = { name, namespace: 'shop', labels: wish.labels ?? optedIn, annotations };
  return { apiVersion: 'apps/v1', kind, metadata, spec } as KubeObject;
}

/** What a pod of that owner would get, without one coming to be. */
function dryRun(ownerReferences: readonly object[], labels = {}): Promise<Pod> {
  const body = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'probe-', labels, ownerReferences },
    spec: { containers: [{ name: 'app', image: 'registry.k8s.io/pause:3.10' }] },
  };
  return cluster.api.raw('POST', '/api/v1/namespaces/shop/pods', { query: { dryRun: 'All' }, body });
}

async function podsOf(name: string, count: number): Promise<readonly Pod[]> {
  return waitFor(`${count} pods of ${name}`, async () => {
    const pods = await cluster.api.list<Pod>('Pod', { namespace: 'shop', labelSelector: `app=${name}` });
    const living = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return living.length === count ? living : undefined;
  });
}

const typeOf = ({ spec }: Pod) => spec.nodeSelector?.[capacityKey] ?? 'none';
const countSpot = (pods: readonly Pod[]) => pods.filter((pod) => typeOf(pod) === 'spot').length;
const annotation = (pod: Pod, key: string) => pod.metadata.annotations?.[key];

describe('admission on a real API server', () => {
  it('splits 10@70/1 exactly, and numbers the pods so that they leave in the reverse order', async () => {
    await cluster.api.apply(workload('Deployment', 'web', 10, { policy: [70, 1] }));
    const pods = await podsOf('web', 10);
    expect(countSpot(pods)).toBe(7);
    const costs = pods.map((pod) => Number(annotation(pod, 'controller.kubernetes.io/pod-deletion-cost')));
    expect(costs.toSorted((a, b) => b - a)).toEqual([0, -1, -2, -3, -4, -5, -6, -7, -8, -9]);
  }, 60_000);

  it('is exact again after scaling down and up with nobody observing the pods', async () => {
    const policy = { spotPercentage: 70, minOnDemand: 1 };
    for (const replicas of [4, 25]) {
      await cluster.api.scale('Deployment', 'shop/web', replicas);
      expect(countSpot(await podsOf('web', replicas))).toBe(targetSpot(policy, replicas));
    }
  }, 60_000);

  it('goes by the number in a StatefulSet, counted from its first', async () => {
    const spec = { ordinals: { start: 3 } };
    await cluster.api.apply(workload('StatefulSet', 'db', 4, { policy: [50, 1], spec }));
    const pods = await podsOf('db', 4);
    const types = pods
      .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name))
      .map((pod) => [pod.metadata.name, typeOf(pod)]);
    // Slots of 50 % with a floor of 1: on-demand, spot, on-demand, spot.
    const slots = [0, 1, 2, 3].map((slot) => {
      const policy = { spotPercentage: 50, minOnDemand: 1 };
      return targetSpot(policy, slot + 1) > targetSpot(policy, slot) ? 'spot' : 'on-demand';
    });
    expect(types).toEqual(slots.map((type, slot) => [`db-${slot + 3}`, type]));
  }, 60_000);

  it('answers a dry run and leaves no trace of it', async () => {
    const [pod] = await podsOf('web', 25);
    const { ownerReferences = [], labels = {} } = pod!.metadata;
    const before = await dryRun(ownerReferences, labels);
    const again = await dryRun(ownerReferences, labels);
    expect(typeOf(before)).toMatch(/^(spot|on-demand)$/);
    expect(annotation(again, 'spotalis.io/rank')).toBe(annotation(before, 'spotalis.io/rank'));
  }, 60_000);

  it('leaves the pods of a Deployment alone that did not opt in', async () => {
    await cluster.api.apply(workload('Deployment', 'other', 3, { policy: [70, 1], labels: {} }));
    const pods = await podsOf('other', 3);
    expect(pods.map(typeOf)).toEqual(['none', 'none', 'none']);
    expect(pods.map((pod) => annotation(pod, 'spotalis.io/reservation'))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  }, 60_000);

  it('places pods without Redis, within one of the target', async () => {
    await redis.stop();
    await cluster.api.apply(workload('Deployment', 'alone', 20, { policy: [80, 2] }));
    expect(Math.abs(countSpot(await podsOf('alone', 20)) - 16)).toBeLessThanOrEqual(1);
    expect(service.log.filter(({ reason }) => reason === 'ledger-unavailable').length).toBeGreaterThan(0);
  }, 60_000);
});
