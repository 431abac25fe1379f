import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../api/client.ts';
import type { OwnProgramFound } from '../binaries/own.ts';
import type { Cluster } from '../cluster.ts';
import type { NodeObject } from '../nodes/node.ts';
import { freePorts } from '../process/ports.ts';
import { waitFor } from '../process/wait.ts';

const POOL = 'spot';
const DROUGHT = { cpu: '0' };

/** One small type, so that the scheduler of Karpenter has little to think about. */
const pool = (hasCapacity: boolean): readonly KubeObject[] => [
  {
    apiVersion: 'karpenter.kwok.sh/v1alpha1',
    kind: 'KWOKNodeClass',
    metadata: { name: 'default' },
  },
  {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: POOL },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
          requirements: [
            { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] },
            { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['c-1x-amd64-linux'] },
          ],
          expireAfter: 'Never',
        },
      },
      disruption: { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' },
      ...(!hasCapacity && { limits: DROUGHT }),
    },
  } as KubeObject,
];

/** An autoscaler that makes spot nodes, as fake as the others, for pods that find none. */
export class Karpenter {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Those that it made and that are there. */
  async nodes(): Promise<readonly NodeObject[]> {
    return this.#cluster.api.list<NodeObject>('Node', {
      labelSelector: `karpenter.sh/nodepool=${POOL},kwok-partition`,
    });
  }

  /** No more nodes; those that are there stay. */
  async exhaustSpot(): Promise<void> {
    await this.#limit(DROUGHT);
  }

  /** A drought: no more nodes, and those there are go with their pods. */
  async withdrawSpot(): Promise<void> {
    await this.exhaustSpot();
    const { api } = this.#cluster;
    for (const { metadata } of await api.list<KubeObject & { metadata: { name: string } }>('NodeClaim')) {
      await api.delete('NodeClaim', metadata.name);
    }
    await waitFor("the autoscaler's nodes to be gone", async () => (await this.nodes()).length === 0, {
      timeoutMs: 60_000,
    });
  }

  async returnSpot(): Promise<void> {
    await this.#limit(null);
  }

  async #limit(limits: typeof DROUGHT | null): Promise<void> {
    await this.#cluster.api.patch('NodePool', POOL, { spec: { limits } });
  }
}

/** Resolves when it serves. `spot: false`: in a drought from the start. */
export async function startKarpenter(
  cluster: Cluster,
  { command, crdDir }: OwnProgramFound,
  { spot = true }: { readonly spot?: boolean } = {},
): Promise<Karpenter> {
  const { api } = cluster;
  for (const name of readdirSync(crdDir)) await api.apply(readFileSync(join(crdDir, name), 'utf8'));
  await waitFor(
    'the kinds of Karpenter',
    async () => {
      await api.list('NodePool');
      await api.list('KWOKNodeClass');
      return true;
    },
    { timeoutMs: 20_000 },
  );
  const [metricsPort = 0, probePort = 0] = await freePorts(2);
  await cluster.startService({
    name: 'karpenter',
    program: command,
    args: [
      '--metrics-port',
      String(metricsPort),
      '--health-probe-port',
      String(probePort),
      '--disable-leader-election',
      'true',
      '--batch-idle-duration',
      '200ms',
      '--batch-max-duration',
      '1s',
    ],
    env: { SYSTEM_NAMESPACE: 'kube-system' },
    kubeconfig: cluster.kubeconfig,
    ready: async () => (await fetch(`http://127.0.0.1:${probePort}/readyz`)).ok,
  });
  await api.apply(pool(spot));
  return new Karpenter(cluster);
}
