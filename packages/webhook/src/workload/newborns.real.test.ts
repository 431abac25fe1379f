/** @needs control-plane */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Cluster, type KubeObject, startCluster, waitFor } from '@spotalis/cluster';
import { ApiClient, Credentials, Transport } from '@spotalis/kube';
import { Newborns } from './newborns.ts';

interface Deployment extends KubeObject {
  readonly status: { readonly readyReplicas?: number };
}

const heard: string[] = [];
let cluster: Cluster;
let transport: Transport;
let newborns: Newborns;

beforeAll(async () => {
  cluster = await startCluster({ spotNodes: 1, onDemandNodes: 1, audit: true });
  const credentials = new Credentials({ path: cluster.kubeconfig });
  transport = new Transport({ credentials, userAgent: 'test' });
  newborns = new Newborns({
    client: new ApiClient(transport),
    namespaces: [],
    isAbsent: () => false,
    observer: { event: (type) => heard.push(type) },
    now: () => performance.now(),
  });
  await newborns.start();
  await waitFor('the watch', () => newborns.hasSynced());
}, 120_000);

afterAll(async () => {
  await newborns?.stop();
  await transport?.close();
  await cluster?.stop();
}, 60_000);

const deployment = (name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'app', image: 'registry.k8s.io/pause:3.10' }] },
    },
  },
});

it('of all that a real API server tells of a ReplicaSet, its birth is read and what ends it', async () => {
  await cluster.api.apply(deployment('web', 30));
  await waitFor(
    '30 pods',
    async () => {
      const { status } = await cluster.api.get<Deployment>('Deployment', 'default/web');
      return status.readyReplicas === 30;
    },
    { timeoutMs: 60_000 },
  );
  const told = cluster.auditLog.read(
    ({ objectRef }) => objectRef?.resource === 'replicasets' && objectRef.subresource === 'status',
  );
  expect(told.length).toBeGreaterThan(2);
  const count = (type: string) => heard.filter((each) => each === type).length;
  await waitFor('the birth to be heard of and over', () => count('ADDED') === 1 && newborns.size === 0);
  expect(count('MODIFIED')).toBeLessThanOrEqual(2);
  expect(count('MODIFIED')).toBeLessThan(told.length);
}, 120_000);
