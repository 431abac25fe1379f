import {
  nodeViewOf,
  type Nodes,
  type NodeView,
  type ObservedPod,
  type Resources,
  subtractResources,
  withStates,
} from '@spotalis/core';
import type { Cluster } from './cluster.ts';

export interface RoomsOptions {
  /** Pods of other namespaces are on the nodes, too, and not seen: no room counts but what a placeholder holds. */
  readonly onlyProven?: boolean;
}

/** The nodes with the room that is left on them, worked out again only where something changed. */
export class Rooms {
  readonly #cluster: Cluster;
  readonly #onlyProven: boolean;
  readonly #views = new Map<string, NodeView>();
  readonly #changed = new Set<string>();

  /** Before the stores are filled. */
  constructor(cluster: Cluster, { onlyProven = false }: RoomsOptions = {}) {
    this.#cluster = cluster;
    this.#onlyProven = onlyProven;
    cluster.nodes.subscribe(({ object }) => this.#changed.add(object.metadata.name));
    cluster.pods.subscribe((change) => {
      this.#touch(change.object);
      if (change.type === 'updated' && change.previous.nodeName !== change.object.nodeName) {
        this.#touch(change.previous);
      }
    });
  }

  /** `promised`: room that is already meant for pods to come, by node. */
  views(promised: ReadonlyMap<string, Resources>): Nodes {
    for (const name of this.#changed) this.#refresh(name);
    this.#changed.clear();
    if (promised.size === 0 || this.#onlyProven) return this.#views;
    const less = new Map<string, NodeView>();
    for (const [name, resources] of promised) {
      const view = this.#views.get(name);
      if (view !== undefined) less.set(name, { ...view, free: subtractResources(view.free, resources) });
    }
    return withStates(this.#views, less);
  }

  #touch({ nodeName }: ObservedPod): void {
    if (nodeName !== undefined) this.#changed.add(nodeName);
  }

  #refresh(name: string): void {
    const node = this.#cluster.nodes.get(name);
    if (node === undefined) {
      this.#views.delete(name);
      return;
    }
    const view = nodeViewOf(node, this.#cluster.pods.by('node', name));
    this.#views.set(name, this.#onlyProven ? { ...view, free: {} } : view);
  }
}
