import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Credentials } from '../configuration/credentials.ts';
import { resource } from '../resource.ts';
import { ApiClient } from '../transport/client.ts';
import { Transport } from '../transport/transport.ts';
import type { Finding, Way } from './store-follower.ts';

const pods = resource('v1', 'pods', 'Pod');
const configMaps = resource('v1', 'configmaps', 'ConfigMap');
const NAMESPACE = 'default';
const PARALLEL = 64;
/** As a pod of a ReplicaSet has it with its defaults, managed fields and status. */
const POD_BYTES = 3_600;

export interface Comparison {
  readonly pods: number;
  readonly podBytes: number;
  readonly createdPerSecond: number;
  readonly reflector: Finding;
  readonly informer: Finding;
}

/** Makes the pods through the API, then lets each way take them in, in turn; of several rounds the calmest counts. */
export async function compareStores(kubeconfig: string, count: number, rounds = 1): Promise<Comparison> {
  const credentials = new Credentials({ path: kubeconfig });
  const client = new ApiClient(new Transport({ credentials, userAgent: 'bench', connections: PARALLEL }));
  // An owner that exists, or the garbage collector would delete the pods.
  const owner = await client.create(configMaps, { namespace: NAMESPACE }, { metadata: { name: 'owner' } });
  const { uid } = owner.metadata;
  const padding = 'x'.repeat(Math.max(0, POD_BYTES - (await bytesOf(client, podOf('pod-00000', uid, '')))));
  const startMs = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const name = `pod-${next++}`;
      await client.create(pods, { namespace: NAMESPACE }, podOf(name, uid, padding));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  const createdPerSecond = (count / (performance.now() - startMs)) * 1_000;
  const podBytes = JSON.stringify(await client.get(pods, { namespace: NAMESPACE, name: 'pod-0' })).length;
  await client.transport.close();
  let reflector = await follow('reflector', kubeconfig, count);
  let informer = await follow('informer', kubeconfig, count);
  for (let round = 1; round < rounds; round++) {
    reflector = calmer(reflector, await follow('reflector', kubeconfig, count));
    informer = calmer(informer, await follow('informer', kubeconfig, count));
  }
  return { pods: count, podBytes, createdPerSecond, reflector, informer };
}

/** A stall of the machine comes on top of their own. */
const calmer = (a: Finding, b: Finding): Finding => (a.longestStallMs <= b.longestStallMs ? a : b);

async function bytesOf(client: ApiClient, pod: object): Promise<number> {
  const dry = await client.create(pods, { namespace: NAMESPACE }, pod, {
    dryRun: true,
  });
  return JSON.stringify(dry).length;
}

async function follow(way: Way, kubeconfig: string, expected: number): Promise<Finding> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', fileURLToPath(new URL('store-follower.ts', import.meta.url)), way, String(expected)],
    { env: { ...process.env, KUBECONFIG: kubeconfig, NODE_OPTIONS: '' }, timeout: 120_000 },
  );
  const finding: Finding = JSON.parse(stdout);
  if (finding.objects !== expected) {
    throw new Error(`the ${way} took in ${finding.objects} pods of ${expected}`);
  }
  return finding;
}

/** For no scheduler and without a token volume, so that it stays as it is made. */
function podOf(name: string, ownerUid: string, padding: string): object {
  return {
    metadata: {
      name,
      labels: { app: 'web', 'pod-template-hash': '5d4f8c7b9', 'app.kubernetes.io/part-of': 'shop' },
      annotations: { 'example.com/padding': padding },
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: 'owner',
          uid: ownerUid,
          controller: true,
        },
      ],
    },
    spec: {
      schedulerName: 'none',
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'main',
          image: 'registry.example/web:1.0.0',
          env: Array.from({ length: 8 }, (_, i) => ({ name: `SETTING_${i}`, value: `value-${i}` })),
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '128Mi' } },
          readinessProbe: { httpGet: { path: '/ready', port: 8080 } },
        },
      ],
    },
  };
}
