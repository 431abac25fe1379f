import { type CapacityType, classifyNode, type NodeLabels } from '@spotalis/core';
import { type ApiClient, resource } from '@spotalis/kube';
import { getOrUndefined } from './replicaset.ts';

const nodes = resource('v1', 'nodes', 'Node');

/** A node's labels are looked at again after this long. */
const REMEMBERED_MS = 60_000;
const NODES = 5_000;

/**
 * The type of a node by its labels. Only pods without a mark need it, and these are few after adoption, so nodes are
 * read one by one and not watched.
 */
export class NodeTypes {
  readonly #remembered = new Map<string, { type: CapacityType | undefined; untilMs: number }>();
  readonly #options: {
    client: ApiClient;
    nodeLabels: NodeLabels;
    deadlineMs: number;
    now: () => number;
  };

  constructor(options: { client: ApiClient; nodeLabels: NodeLabels; deadlineMs: number; now: () => number }) {
    this.#options = options;
  }

  async of(name: string): Promise<CapacityType | undefined> {
    const { client, nodeLabels, deadlineMs, now } = this.#options;
    const known = this.#remembered.get(name);
    if (known !== undefined && known.untilMs > now()) {
      return known.type;
    }
    const node = await getOrUndefined(() => client.get(nodes, { name }, { view: 'metadata', deadlineMs }));
    const found = node === undefined ? 'unknown' : classifyNode(node.metadata.labels ?? {}, nodeLabels);
    const type = found === 'unknown' ? undefined : found;
    if (this.#remembered.size >= NODES) {
      this.#remembered.clear();
    }
    this.#remembered.set(name, { type, untilMs: now() + REMEMBERED_MS });
    return type;
  }
}
