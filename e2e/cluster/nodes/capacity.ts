import type { ApiClient, KubeObject } from '../api/client.ts';
import { waitFor } from '../process/wait.ts';
import { CAPACITY_LABEL, type CapacityType, type NodeObject, type Taint } from './node.ts';

interface PodObject extends KubeObject {
  readonly metadata: { readonly name: string; readonly namespace: string };
}

/** What the cloud does to nodes, done to fake ones. */
export class Capacity {
  readonly #api: ApiClient;
  /** As they are to come back: by name, those that are away. */
  readonly #away = new Map<string, NodeObject>();

  constructor(api: ApiClient) {
    this.#api = api;
  }

  /** Resolves when every node is Ready and nothing keeps pods off it. */
  async add(nodes: readonly NodeObject[]): Promise<void> {
    await Promise.all(nodes.map((node) => this.#api.create(node)));
    const names = new Set(nodes.map(({ metadata }) => metadata.name));
    await waitFor(
      `${nodes.length} nodes to be ready`,
      async () => {
        const all = await this.#api.list<NodeObject>('Node');
        return { ready: all.filter((node) => names.has(node.metadata.name) && isReady(node)).length };
      },
      { until: ({ ready }) => ready === nodes.length },
    );
  }

  /** The machine is gone, with its pods, at once and without notice. */
  async removeNode(name: string): Promise<void> {
    await this.#remove([await this.#api.get<NodeObject>('Node', name)]);
  }

  /** A node that was removed joins again, empty, with the labels and taints it had. */
  async restoreNode(name: string): Promise<void> {
    const node = this.#away.get(name);
    if (node === undefined)
      throw new Error(`node ${name} is not away; away are: ${[...this.#away.keys()].join(', ') || 'none'}`);
    await this.#restore([node]);
  }

  async cordon(name: string): Promise<void> {
    await this.#api.patch('Node', name, { spec: { unschedulable: true } });
  }

  async uncordon(name: string): Promise<void> {
    await this.#api.patch('Node', name, { spec: { unschedulable: null } });
  }

  async taint(name: string, taint: Taint): Promise<void> {
    const taints = await this.#taintsBut(name, taint.key);
    await this.#api.patch('Node', name, { spec: { taints: [...taints, taint] } });
  }

  /** Takes every taint with that key away. */
  async untaint(name: string, key: string): Promise<void> {
    await this.#api.patch('Node', name, { spec: { taints: await this.#taintsBut(name, key) } });
  }

  /** A drought: every node of the type vanishes with its pods, and there is no other. */
  async withdraw(type: CapacityType): Promise<void> {
    await this.#remove(
      await this.#api.list<NodeObject>('Node', { labelSelector: `${CAPACITY_LABEL}=${type}` }),
    );
  }

  /** All nodes of the type that are away come back. */
  async return(type: CapacityType): Promise<void> {
    await this.#restore(
      [...this.#away.values()].filter(({ metadata }) => metadata.labels[CAPACITY_LABEL] === type),
    );
  }

  async #remove(nodes: readonly NodeObject[]): Promise<void> {
    for (const node of nodes) this.#away.set(node.metadata.name, asNew(node));
    const names = nodes.map(({ metadata }) => metadata.name);
    await Promise.all(names.map((name) => this.#api.delete('Node', name)));
    // The scheduler learns of it a little later and may still bind a pod or two.
    let emptyLooks = 0;
    await waitFor('the pods of removed nodes to be gone', async () => {
      const left = await this.#killPods(names);
      emptyLooks = left === 0 ? emptyLooks + 1 : 0;
      return emptyLooks === EMPTY_LOOKS;
    });
  }

  /** A dead machine answers nobody: no grace period. */
  async #killPods(nodes: readonly string[]): Promise<number> {
    const lists = await Promise.all(
      nodes.map((node) => this.#api.list<PodObject>('Pod', { fieldSelector: `spec.nodeName=${node}` })),
    );
    const pods = lists.flat();
    await Promise.all(
      pods.map(({ metadata }) =>
        this.#api.delete('Pod', `${metadata.namespace}/${metadata.name}`, { gracePeriodSeconds: 0 }),
      ),
    );
    return pods.length;
  }

  async #restore(nodes: readonly NodeObject[]): Promise<void> {
    await this.add(nodes);
    for (const { metadata } of nodes) this.#away.delete(metadata.name);
  }

  async #taintsBut(name: string, key: string): Promise<readonly Taint[]> {
    const { spec } = await this.#api.get<NodeObject>('Node', name);
    return (spec.taints ?? []).filter((taint) => taint.key !== key);
  }
}

/** At 50 ms each: the scheduler's cache is behind by less. */
const EMPTY_LOOKS = 4;
/** Put there by the control plane, which will do so again. */
const SYSTEM_TAINT = 'node.kubernetes.io/';

function isReady({ spec, status }: NodeObject): boolean {
  const ready =
    status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
  return ready && !spec.taints?.some(({ key }) => key.startsWith(SYSTEM_TAINT));
}

/** Written out, because the items of a list do not say what they are. */
function asNew({ metadata, spec, status }: NodeObject): NodeObject {
  const { name, labels, annotations } = metadata;
  const taints = spec.taints?.filter(({ key }) => !key.startsWith(SYSTEM_TAINT)) ?? [];
  const { capacity = {}, allocatable = {}, addresses = [] } = status ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels, annotations },
    spec: { ...(taints.length > 0 && { taints }) },
    status: { capacity, allocatable, addresses },
  };
}
