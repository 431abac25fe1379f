import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KubeObject, waitFor } from '@spotalis/cluster';
import { enabledLabel, foreignKeys, podKeys, policyKeys } from '@spotalis/core';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import {
  type Declaration,
  manifest,
  optedInNamespace,
  type Pod,
  splitOf,
  typeOf,
  Workload,
} from '../workloads/workload.ts';

const policy = { spotPercentage: 70, minOnDemand: 1 };
const optedIn = { [enabledLabel]: 'true' };

type Metadata = Pick<NonNullable<KubeObject['metadata']>, 'labels' | 'annotations'>;

/** The workload with other labels and annotations than a declaration gives it. */
function withMetadata(declaration: Declaration, metadata: Metadata): KubeObject {
  const whole = manifest(declaration);
  return { ...whole, metadata: { ...whole.metadata, labels: {}, annotations: {}, ...metadata } };
}

const plainNamespace = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});

const writtenAtAdmission = new Set<string>([
  ...Object.values(podKeys).filter((key) => key !== podKeys.doNotMove),
  foreignKeys.podDeletionCost,
]);

/** Nothing that admission writes is on it. */
function isUntouched(pod: Pod): boolean {
  const keys = Object.keys(pod.metadata?.annotations ?? {});
  return typeOf(pod) === undefined && keys.every((key) => !writtenAtAdmission.has(key));
}

describe('what nobody opted in', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed();
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  const template = {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'app', image: 'registry.k8s.io/pause:3.10' }],
  };
  const labels = { app: 'web' };
  const inNamespace = (namespace: string, name = 'web') => ({
    namespace,
    name,
    labels: optedIn,
    annotations: { [policyKeys.spotPercentage]: '100' },
  });
  const ofKind = (apiVersion: string, kind: string, namespace: string, spec: object): KubeObject =>
    ({ apiVersion, kind, metadata: inNamespace(namespace), spec }) as KubeObject;

  /** Labelled and annotated like a workload of ours, each of them, in a namespace that opted in. */
  const others: {
    readonly what: string;
    readonly pods: number;
    readonly object: (ns: string) => KubeObject;
  }[] = [
    { what: 'a bare pod', pods: 1, object: (ns) => ofKind('v1', 'Pod', ns, template) },
    {
      what: 'the pods of a Job',
      pods: 3,
      object: (ns) =>
        ofKind('batch/v1', 'Job', ns, {
          parallelism: 3,
          completions: 3,
          template: { metadata: { labels }, spec: { ...template, restartPolicy: 'Never' } },
        }),
    },
    {
      what: 'the pods of a DaemonSet',
      pods: 12,
      object: (ns) =>
        ofKind('apps/v1', 'DaemonSet', ns, {
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: template },
        }),
    },
    {
      what: 'the pods of a ReplicaSet without a Deployment',
      pods: 3,
      object: (ns) =>
        ofKind('apps/v1', 'ReplicaSet', ns, {
          replicas: 3,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: template },
        }),
    },
    {
      what: 'the pods of a ReplicationController',
      pods: 3,
      object: (ns) =>
        ofKind('v1', 'ReplicationController', ns, {
          replicas: 3,
          selector: labels,
          template: { metadata: { labels }, spec: template },
        }),
    },
  ];

  it.each(others)('$what is left alone', async ({ what, pods, object }) => {
    const namespace = what.toLowerCase().replaceAll(' ', '-');
    await testbed.cluster.api.apply([optedInNamespace(namespace), object(namespace)]);
    const found = await waitFor(`${pods} pods`, async () => {
      const all = await testbed.cluster.api.list<Pod>('Pod', { namespace });
      return all.length === pods ? all : undefined;
    });
    expect(found.filter((pod) => !isUntouched(pod))).toEqual([]);
  });

  const deployment = (namespace: string, replicas = 6): Declaration => ({
    name: 'web',
    namespace,
    replicas,
    policy,
  });
  const numbers = { [policyKeys.spotPercentage]: '70', [policyKeys.minOnDemand]: '1' };

  it.each([
    { what: 'only the namespace has the label', namespaced: true, metadata: { annotations: numbers } },
    {
      what: 'a StatefulSet lacks the label',
      namespaced: true,
      metadata: { annotations: numbers },
      more: { kind: 'StatefulSet', spec: { podManagementPolicy: 'Parallel' } } as const,
    },
    {
      what: 'only the workload has the label',
      namespaced: false,
      metadata: { labels: optedIn, annotations: numbers },
    },
    { what: 'neither has the label', namespaced: false, metadata: { annotations: numbers } },
    {
      what: 'the label is not exactly true',
      namespaced: true,
      metadata: { labels: { [enabledLabel]: 'True' }, annotations: numbers },
    },
    { what: 'the workload has neither number', namespaced: true, metadata: { labels: optedIn } },
  ])('a workload is left alone where $what', async ({ what, namespaced, metadata, more }) => {
    const declared = { ...deployment(what.toLowerCase().replaceAll(' ', '-')), ...more };
    const home = (namespaced ? optedInNamespace : plainNamespace)(declared.namespace);
    await testbed.cluster.api.apply([home, withMetadata(declared, metadata)]);
    const workload = new Workload(testbed.cluster.api, declared);
    await workload.splitWhenCreated(6);
    expect((await workload.pods()).filter((pod) => !isUntouched(pod))).toEqual([]);
  });

  it.each(['120', '-1', 'most', '0.5'])(
    'an invalid spot-percentage of %s puts every new pod on on-demand',
    async (value) => {
      const declared = deployment(`invalid-${['120', '-1', 'most', '0.5'].indexOf(value)}`);
      const annotations = { [policyKeys.spotPercentage]: value };
      await testbed.cluster.api.apply([
        optedInNamespace(declared.namespace),
        withMetadata(declared, { labels: optedIn, annotations }),
      ]);
      const split = await new Workload(testbed.cluster.api, declared).splitWhenCreated(6);
      expect(split).toEqual({ spot: 0, onDemand: 6, unsteered: 0 });
    },
  );

  it("the namespace's defaults hold for each number that the workload does not set", async () => {
    const namespace = optedInNamespace('defaults');
    const annotations = { [policyKeys.spotPercentage]: '50', [policyKeys.minOnDemand]: '4' };
    await testbed.cluster.api.apply({ ...namespace, metadata: { ...namespace.metadata, annotations } });
    const cases = [
      { name: 'none', own: {}, exact: { spot: 5, onDemand: 5 } },
      { name: 'percentage', own: { [policyKeys.spotPercentage]: '100' }, exact: { spot: 6, onDemand: 4 } },
      { name: 'floor', own: { [policyKeys.minOnDemand]: '8' }, exact: { spot: 2, onDemand: 8 } },
    ];
    for (const { name, own, exact } of cases) {
      const declared = { ...deployment('defaults', 10), name };
      await testbed.cluster.api.apply(withMetadata(declared, { labels: optedIn, annotations: own }));
      const split = await new Workload(testbed.cluster.api, declared).splitWhenCreated(10);
      expect({ name, ...split }).toEqual({ name, ...exact, unsteered: 0 });
    }
  });

  /** Every webhook has learned of a change once its mirror has so many objects. */
  async function mirrored(store: 'deployments' | 'namespaces', count: number): Promise<void> {
    for (const { debugPort } of testbed.installation.webhooks) {
      await waitFor(
        `the webhook to mirror ${count} ${store}`,
        async () => {
          const answer = await fetch(`http://127.0.0.1:${debugPort}/debug/state`);
          const state = (await answer.json()) as { stores: Record<string, number> };
          return { now: state.stores[store] };
        },
        { until: ({ now }) => now === count },
      );
    }
  }

  it('causes no write', () => {
    expect(testbed.writes()).toEqual([]);
  });

  it.each([
    { from: 'workload', kind: 'Deployment', store: 'deployments' },
    { from: 'namespace', kind: 'Namespace', store: 'namespaces' },
  ] as const)(
    'a label taken from the $from leaves pods where they are and new ones alone, until it is back',
    async ({ from, kind, store }) => {
      const { api } = testbed.cluster;
      const namespace = `taken-from-${from}`;
      const workload = await testbed.declare(deployment(namespace, 10));
      const before = await workload.ready(10);
      expect(splitOf(before)).toEqual(workload.exactly(10));
      const labelled = await api.list(kind, { labelSelector: `${enabledLabel}=true` });
      await mirrored(store, labelled.length);

      const label = (value: string | null) =>
        api.patch(kind, kind === 'Namespace' ? namespace : workload.path, {
          metadata: { labels: { [enabledLabel]: value } },
        });
      await label(null);
      await mirrored(store, labelled.length - 1);
      await workload.scale(20);
      const after = await workload.ready(20);
      const uids = new Set(before.map(({ metadata }) => metadata?.uid));
      const kept = after.filter(({ metadata }) => uids.has(metadata?.uid));
      expect(splitOf(kept)).toEqual(workload.exactly(10));
      expect(after.filter(({ metadata }) => !uids.has(metadata?.uid)).every(isUntouched)).toBe(true);

      // Whatever came meanwhile counts by its node, and the next pods make up for it.
      await label('true');
      await mirrored(store, labelled.length);
      await workload.scale(60);
      const pods = await workload.ready(60);
      const nodes = await api.list('Node', { labelSelector: 'karpenter.sh/capacity-type=spot' });
      const spotNodes = new Set(nodes.map(({ metadata }) => metadata?.name));
      const onSpot = pods.filter(({ spec }) => spotNodes.has(spec.nodeName ?? '')).length;
      expect(onSpot).toBe(workload.exactly(60).spot);
    },
    120_000,
  );

  it('causes no eviction', () => {
    expect(testbed.evictions()).toBe(0);
  });
});
