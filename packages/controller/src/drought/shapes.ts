import {
  emptyNode,
  nodeViewOf,
  type Nodes,
  type NodeView,
  type ObservedNode,
  shapeKey,
} from '@spotalis/core';
import type { Cluster } from '../observe/cluster.ts';

/** A type without any node today may have had some yesterday. */
const REMEMBER_MS = 24 * 3_600_000;
/** Nodes with labels of their own beside the hostname would be a shape each. */
const MOST_SHAPES = 500;

/** One empty node of each shape that was seen lately, also of those that are all gone. */
export class Shapes {
  readonly #cluster: Cluster;
  readonly #now: () => number;
  readonly #gone = new Map<string, { readonly view: NodeView; readonly lastSeenMs: number }>();
  readonly #present = new Map<string, string>();
  #views: Map<string, NodeView> | undefined;

  /** Before the stores are filled. */
  constructor(cluster: Cluster, now: () => number) {
    this.#cluster = cluster;
    this.#now = now;
    cluster.nodes.subscribe((change) => {
      const { name } = change.object.metadata;
      if (change.type !== 'added') this.#left(change.type === 'updated' ? change.previous : change.object);
      if (change.type === 'deleted') this.#present.delete(name);
      else this.#present.set(name, shapeKey(nodeViewOf(change.object, [])));
      this.#views = undefined;
    });
  }

  views(): Nodes {
    if (this.#views !== undefined) return this.#views;
    const sinceMs = this.#now() - REMEMBER_MS;
    const shapes = new Map<string, NodeView>();
    for (const [key, { view, lastSeenMs }] of this.#gone) {
      if (lastSeenMs < sinceMs) this.#gone.delete(key);
      else shapes.set(key, view);
    }
    for (const [name, key] of this.#present) {
      const node = shapes.size < MOST_SHAPES || shapes.has(key) ? this.#cluster.nodes.get(name) : undefined;
      if (node !== undefined) shapes.set(key, emptyNode(nodeViewOf(node, [])));
    }
    this.#views = shapes;
    return shapes;
  }

  #left(node: ObservedNode): void {
    const view = emptyNode(nodeViewOf(node, []));
    const key = shapeKey(view);
    // Anew, so that the oldest is the first.
    this.#gone.delete(key);
    this.#gone.set(key, { view, lastSeenMs: this.#now() });
    const [oldest] = this.#gone.keys();
    if (this.#gone.size > MOST_SHAPES && oldest !== undefined) this.#gone.delete(oldest);
  }
}
