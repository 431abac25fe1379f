import { type ApiClient, type KubeObject, waitFor } from '@spotalis/cluster';
import { type PolicyNumbers, targetSpot } from '@spotalis/core';
import type { Revision } from '@spotalis/ledger';

const capacityKey = 'karpenter.sh/capacity-type';

export interface Pod extends KubeObject {
  readonly spec: { readonly nodeName?: string; readonly nodeSelector?: Readonly<Record<string, string>> };
  readonly status: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** How the pods of a workload that are neither ending nor ended are steered. */
export interface Split {
  readonly spot: number;
  readonly onDemand: number;
  readonly unsteered: number;
}

export interface Declaration {
  readonly kind?: 'Deployment' | 'StatefulSet';
  readonly name: string;
  readonly namespace: string;
  readonly replicas: number;
  readonly policy: PolicyNumbers;
  /** Merged into the workload's spec. */
  readonly spec?: Readonly<Record<string, unknown>>;
  /** Of the workload, beside those of its policy. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Merged into the pod template's metadata annotations. */
  readonly podAnnotations?: Readonly<Record<string, string>>;
  /** A change of it is a new revision. */
  readonly version?: string;
}

export function optedInNamespace(name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { 'spotalis.io/enabled': 'true' } },
  };
}

export function manifest(declaration: Declaration): KubeObject & Readonly<Record<string, unknown>> {
  const {
    kind = 'Deployment',
    name,
    namespace,
    replicas,
    policy,
    spec = {},
    annotations = {},
    podAnnotations,
    version = '1',
  } = declaration;
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: {
      name,
      namespace,
      labels: { 'spotalis.io/enabled': 'true' },
      annotations: {
        'spotalis.io/spot-percentage': String(policy.spotPercentage),
        'spotalis.io/min-on-demand': String(policy.minOnDemand),
        ...annotations,
      },
    },
    spec: {
      replicas,
      ...(kind === 'StatefulSet' && { serviceName: name }),
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, ...(podAnnotations && { annotations: podAnnotations }) },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: 'app',
              image: 'registry.k8s.io/pause:3.10',
              env: [{ name: 'VERSION', value: version }],
              resources: { requests: { cpu: '1m', memory: '1Mi' } },
            },
          ],
        },
      },
      ...spec,
    },
  };
}

/** One declared workload, as a scenario speaks of it. */
export class Workload {
  readonly #api: ApiClient;
  readonly #kind: string;
  readonly #namespace: string;
  readonly #name: string;
  readonly policy: PolicyNumbers;

  constructor(api: ApiClient, { kind = 'Deployment', namespace, name, policy }: Declaration) {
    this.#api = api;
    this.#kind = kind;
    this.#namespace = namespace;
    this.#name = name;
    this.policy = policy;
  }

  get path(): string {
    return `${this.#namespace}/${this.#name}`;
  }

  /** As the controller names it. */
  get subject(): string {
    return `${this.#kind}/${this.path}`;
  }

  async scale(replicas: number): Promise<void> {
    await this.#api.scale(this.#kind, this.path, replicas);
  }

  async patch(patch: object): Promise<void> {
    await this.#api.patch(this.#kind, this.path, patch);
  }

  /** The pods that are neither ending nor ended, in the order in which they were created. */
  async pods(): Promise<Pod[]> {
    const pods = await this.#api.list<Pod>('Pod', {
      namespace: this.#namespace,
      labelSelector: `app=${this.#name}`,
    });
    return pods.filter(
      ({ metadata, status }) =>
        metadata?.deletionTimestamp === undefined &&
        status.phase !== 'Succeeded' &&
        status.phase !== 'Failed',
    );
  }

  async split(): Promise<Split> {
    return splitOf(await this.pods());
  }

  /** Of a Deployment with one ReplicaSet: its place in the ledger. */
  async revision(): Promise<Revision> {
    const { metadata } = await this.#api.get(this.#kind, this.path);
    const workloadUid = metadata?.uid ?? '';
    return waitFor(`the ReplicaSet of ${this.path}`, async () => {
      const sets = await this.#api.list('ReplicaSet', { namespace: this.#namespace });
      const own = sets.find(({ metadata: its }) => its?.ownerReferences?.[0]?.uid === workloadUid);
      return own && { workloadUid, replicaSetUid: own.metadata?.uid ?? '' };
    });
  }

  /** The split at the moment when as many pods live as were declared: nothing had time to repair it. */
  async splitWhenCreated(replicas: number, timeoutMs?: number): Promise<Split> {
    return splitOf(await this.created(replicas, timeoutMs));
  }

  /** Waits until as many pods live, Ready or not. */
  async created(replicas: number, timeoutMs = 120_000): Promise<readonly Pod[]> {
    return waitFor(
      `${replicas} pods of ${this.path}`,
      async () => {
        const pods = await this.pods();
        return pods.length === replicas ? pods : undefined;
      },
      { timeoutMs, intervalMs: pollMs(replicas) },
    );
  }

  /** Waits until `replicas` pods live and all of them are Ready. */
  async ready(replicas: number, timeoutMs = 120_000): Promise<Pod[]> {
    let seen = '';
    return waitFor(
      `${replicas} Ready pods of ${this.path}`,
      async () => {
        const pods = await this.pods();
        const ready = pods.filter(isReady);
        seen = `${ready.length} of ${pods.length} are Ready`;
        return pods.length === replicas && ready.length === replicas ? pods : undefined;
      },
      { timeoutMs, intervalMs: pollMs(replicas) },
    ).catch((error: unknown) => {
      throw new Error(`${error instanceof Error ? error.message : String(error)}; ${seen}`);
    });
  }

  /** What the policy asks for at this size. */
  exactly(replicas: number): Split {
    const spot = targetSpot(this.policy, replicas);
    return { spot, onDemand: replicas - spot, unsteered: 0 };
  }
}

export function isReady(pod: Pod): boolean {
  return pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** Where it is steered to; undefined when it is not. */
export function typeOf({ spec }: Pod): string | undefined {
  return spec.nodeSelector?.[capacityKey];
}

export function splitOf(pods: readonly Pod[]): Split {
  const count = (type: string): number => pods.filter((pod) => typeOf(pod) === type).length;
  const spot = count('spot');
  const onDemand = count('on-demand');
  return { spot, onDemand, unsteered: pods.length - spot - onDemand };
}

/** A large list keeps this process busy, and the balancer runs in it, too. */
function pollMs(replicas: number): number {
  if (replicas > 1_000) return 2_000;
  return replicas > 200 ? 500 : 50;
}
