import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Cluster, type RedisServers, startCluster, startRedis, waitFor } from '@spotalis/cluster';
import { type Ledger, type LedgerEntry, openLedger } from '@spotalis/ledger';

const bundle = fileURLToPath(new URL('../../dist/controller.mjs', import.meta.url));
export const NAMESPACE = 'spotalis-system';

/** The rights that the service asks for, and none beside. */
const access = `
apiVersion: v1
kind: Namespace
metadata: { name: ${NAMESPACE} }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: controller, namespace: ${NAMESPACE} }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: spotalis-controller }
rules:
  - { apiGroups: [''], resources: [namespaces, nodes, pods], verbs: [list, watch] }
  - { apiGroups: [apps], resources: [deployments, statefulsets, replicasets], verbs: [list, watch] }
  - { apiGroups: [''], resources: [pods], verbs: [get, patch] }
  - { apiGroups: [''], resources: [pods/eviction], verbs: [create] }
  - { apiGroups: [''], resources: [persistentvolumes, persistentvolumeclaims], verbs: [list, watch] }
  - { apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [list, watch] }
  - { apiGroups: [admissionregistration.k8s.io], resources: [mutatingwebhookconfigurations], verbs: [get] }
  - { apiGroups: [events.k8s.io], resources: [events], verbs: [create, patch] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: spotalis-controller }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: spotalis-controller }
subjects: [{ kind: ServiceAccount, name: controller, namespace: ${NAMESPACE} }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: spotalis-controller, namespace: ${NAMESPACE} }
rules:
  - { apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create, get, patch] }
  - { apiGroups: [''], resources: [pods], verbs: [create, delete] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: spotalis-controller, namespace: ${NAMESPACE} }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: spotalis-controller }
subjects: [{ kind: ServiceAccount, name: controller, namespace: ${NAMESPACE} }]
`;

/** One process of the service, from its bundle. */
export interface Replica {
  readonly name: string;
  readonly ports: { readonly metrics: number; readonly health: number; readonly debug: number };
}

export interface Truth {
  readonly actual: { readonly spot: number; readonly onDemand: number };
  /** Type by pod UID. */
  readonly types: ReadonlyMap<string, string>;
  readonly replicaSets: readonly { readonly workloadUid: string; readonly replicaSetUid: string }[];
}

/** A real cluster and a real Redis with the service between them. */
export class Stage {
  readonly cluster: Cluster;
  readonly redis: RedisServers;
  readonly ledger: Ledger;

  private constructor(cluster: Cluster, redis: RedisServers) {
    this.cluster = cluster;
    this.redis = redis;
    this.ledger = openLedger({
      redis: { url: redis.url },
      now: () => performance.now(),
      wallMs: Date.now,
    });
  }

  static async start(): Promise<Stage> {
    const [cluster, redis] = await Promise.all([
      startCluster({ spotNodes: 2, onDemandNodes: 2 }),
      startRedis(),
    ]);
    const stage = new Stage(cluster, redis);
    await cluster.api.apply(access);
    return stage;
  }

  async stop(): Promise<void> {
    await this.ledger.close();
    await Promise.all([this.cluster.stop(), this.redis.stop()]);
  }

  async startReplica(name: string, env: Readonly<Record<string, string>> = {}): Promise<Replica> {
    const ports = { metrics: await freePort(), health: await freePort(), debug: await freePort() };
    const kubeconfig = await this.cluster.kubeconfigFor(NAMESPACE, 'controller');
    await this.cluster.startService({
      name,
      script: bundle,
      args: ['--kubeconfig', kubeconfig],
      env: {
        SPOTALIS_CONTROLLER_LEADER_ELECTION_NAMESPACE: NAMESPACE,
        // As long as an API server may take to start: a leader that goes is not started again here.
        SPOTALIS_CONTROLLER_LEADER_ELECTION_RENEW_DEADLINE: '14s',
        SPOTALIS_REDIS_URL: this.redis.url,
        SPOTALIS_METRICS_PORT: String(ports.metrics),
        SPOTALIS_HEALTH_PORT: String(ports.health),
        SPOTALIS_DEBUG_PORT: String(ports.debug),
        ...env,
      },
      ready: async () => (await fetch(`http://127.0.0.1:${ports.health}/readyz`)).ok,
    });
    return { name, ports };
  }

  pid({ name }: Replica): number | undefined {
    return this.cluster.component(name).pid;
  }

  rssMb(replica: Replica): number {
    const status = readFileSync(`/proc/${this.pid(replica)}/status`, 'utf8');
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
  }

  /** The value of a series, or undefined where there is none. Labels in any order. */
  async metric(replica: Replica, name: string, labels: Readonly<Record<string, string>> = {}) {
    const page = await (await fetch(`http://127.0.0.1:${replica.ports.metrics}/metrics`)).text();
    const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
    const line = page
      .split('\n')
      .find((one) => new RegExp(`^${name}[ {]`).test(one) && wanted.every((label) => one.includes(label)));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
  }

  /** The one replica that says it leads. */
  async leader(replicas: readonly Replica[], timeoutMs = 30_000): Promise<Replica> {
    return waitFor(
      'exactly one leader',
      async () => {
        const leading = await Promise.all(replicas.map((replica) => this.metric(replica, 'spotalis_leader')));
        const found = replicas.filter((_, index) => leading[index] === 1);
        return found.length === 1 ? found[0] : undefined;
      },
      { timeoutMs },
    );
  }

  /** What a person would find out with kubectl. */
  async truth(namespace: string, name: string): Promise<Truth> {
    const { api } = this.cluster;
    const [pods, nodes, replicaSets] = await Promise.all([
      api.list<ListedPod>('Pod', { namespace, labelSelector: `app=${name}` }),
      api.list<ListedPod>('Node'),
      api.list<ListedPod>('ReplicaSet', { namespace, labelSelector: `app=${name}` }),
    ]);
    const typeOfNode = new Map(
      nodes.map(({ metadata }) => [metadata.name, metadata.labels?.['karpenter.sh/capacity-type']]),
    );
    const types = new Map<string, string>();
    for (const { metadata, spec } of pods) {
      const type = typeOfNode.get(spec.nodeName ?? '');
      if (metadata.deletionTimestamp === undefined && type !== undefined) types.set(metadata.uid, type);
    }
    const spot = [...types.values()].filter((type) => type === 'spot').length;
    return {
      actual: { spot, onDemand: types.size - spot },
      types,
      replicaSets: replicaSets.map(({ metadata }) => ({
        workloadUid: metadata.ownerReferences?.[0]?.uid ?? '',
        replicaSetUid: metadata.uid,
      })),
    };
  }

  /** Waits until the workload has this many pods with nodes, and ledger and pods agree on each of them. */
  async agreement(namespace: string, name: string, pods: number, timeoutMs = 20_000): Promise<Truth> {
    return waitFor(
      `${pods} pods of ${namespace}/${name} in the cluster and in the ledger`,
      async () => {
        const truth = await this.truth(namespace, name);
        const entries: LedgerEntry[] = [];
        for (const revision of truth.replicaSets) entries.push(...(await this.ledger.entries(revision)));
        const agrees =
          truth.types.size === pods &&
          entries.length === pods &&
          entries.every(({ token, type, state }) => state === 'live' && truth.types.get(token) === type);
        if (!agrees)
          throw new Error(`cluster: ${JSON.stringify([...truth.types])}, ledger: ${JSON.stringify(entries)}`);
        return truth;
      },
      { timeoutMs, intervalMs: 200 },
    );
  }
}

interface ListedPod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly spec: { readonly nodeName?: string };
}

export const managedNamespace = (name: string): string => `
apiVersion: v1
kind: Namespace
metadata: { name: ${name}, labels: { spotalis.io/enabled: "true" } }
`;

export function deployment(
  namespace: string,
  name: string,
  replicas: number,
  annotations: Readonly<Record<string, string>>,
): string {
  return `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: ${namespace}
  labels: { spotalis.io/enabled: "true" }
  annotations: ${JSON.stringify(annotations)}
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: main, image: example/none }] }
`;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
