import {
  nodeViewOf,
  type Nodes,
  type NodeView,
  type ObservedPod,
  type Resources,
  subtractResources,
} from '@spotalis/core';
import type { Cluster } from './cluster.ts';

/** The nodes with the room that is left on them, worked out again only where something changed. */
export class Rooms {
  readonly #cluster: Cluster;
  readonly #views = new Map<string, NodeView>();
  readonly #changed = new Set<string>();

  /** Before the stores are filled. */
  constructor(cluster: Cluster) {
    this.#cluster = cluster;
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
    if (promised.size === 0) return this.#views;
    const views = new Map(this.#views);
    for (const [name, resources] of promised) {
      const view = views.get(name);
      if (view !== undefined) views.set(name, { ...view, free: subtractResources(view.free, resources) });
    }
    return views;
  }

  #touch({ nodeName }: ObservedPod): void {
    if (nodeName !== undefined) this.#changed.add(nodeName);
  }

  #refresh(name: string): void {
    const node = this.#cluster.nodes.get(name);
    if (node === undefined) this.#views.delete(name);
    else this.#views.set(name, nodeViewOf(node, this.#cluster.pods.by('node', name)));
  }
}
