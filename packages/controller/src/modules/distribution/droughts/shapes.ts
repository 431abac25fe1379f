import { isDeepStrictEqual } from 'node:util';
import {
  emptyNode,
  hostnameOnly,
  largerShape,
  type NamesNode,
  namingLabels,
  nodeViewOf,
  type Nodes,
  type NodeView,
  type ObservedNode,
  shapeKey,
} from '@spotalis/core';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';

/** A type without any node today may have had some yesterday. */
const REMEMBER_MS = 24 * 3_600_000;
/** Of nodes that are gone. Those that are there all count. */
const MOST_GONE = 500;
/** A label with so many values among those shapes names nodes, not kinds of nodes. */
const MANY_VALUES = MOST_GONE / 2;

interface Shape {
  readonly key: string;
  readonly view: NodeView;
}

interface Gone {
  readonly view: NodeView;
  readonly lastSeenMs: number;
}

/** One empty node of each shape that was seen lately, also of those that are all gone. */
export class Shapes {
  readonly #cluster: Cluster;
  readonly #now: () => number;
  #gone = new Map<string, Gone>();
  #namesNode: NamesNode = hostnameOnly;
  /** By the stores' own objects, which never change. */
  #shapes = new WeakMap<ObservedNode, Shape>();
  #views: Map<string, NodeView> | undefined;

  /** Before the stores are filled. */
  constructor(cluster: Cluster, now: () => number) {
    this.#cluster = cluster;
    this.#now = now;
    cluster.nodes.subscribe((change) => {
      if (change.type === 'deleted') this.#left(change.object);
      if (change.type === 'updated') {
        const [before, after] = [this.#shapeOf(change.previous), this.#shapeOf(change.object)];
        if (before.key !== after.key) this.#left(change.previous);
        // As after most heartbeats.
        else if (isDeepStrictEqual(before.view.allocatable, after.view.allocatable)) return;
      }
      this.#views = undefined;
    });
  }

  views(): Nodes {
    if (this.#views !== undefined) return this.#views;
    const shapes = new Map<string, NodeView>();
    for (const node of this.#cluster.nodes.values()) add(shapes, this.#shapeOf(node));
    const sinceMs = this.#now() - REMEMBER_MS;
    for (const [key, { view, lastSeenMs }] of this.#gone) {
      if (lastSeenMs < sinceMs) this.#gone.delete(key);
      else add(shapes, { key, view });
    }
    this.#views = shapes;
    return shapes;
  }

  #shapeOf(node: ObservedNode): Shape {
    const known = this.#shapes.get(node);
    if (known !== undefined) return known;
    const view = emptyNode(nodeViewOf(node, []));
    const shape = { key: shapeKey(view, this.#namesNode), view };
    this.#shapes.set(node, shape);
    return shape;
  }

  #left(node: ObservedNode): void {
    this.#remember({ view: this.#shapeOf(node).view, lastSeenMs: this.#now() });
    if (this.#gone.size <= MOST_GONE) return;
    const gone = [...this.#gone.values()];
    this.#namesNode = namingLabels(
      gone.map(({ view }) => view),
      MANY_VALUES,
      this.#namesNode,
    );
    this.#shapes = new WeakMap();
    this.#gone = new Map();
    for (const one of gone) this.#remember(one);
    const [oldest] = this.#gone.keys();
    if (this.#gone.size > MOST_GONE && oldest !== undefined) this.#gone.delete(oldest);
  }

  #remember({ view, lastSeenMs }: Gone): void {
    const key = shapeKey(view, this.#namesNode);
    const known = this.#gone.get(key);
    // Anew, so that the oldest is the first.
    this.#gone.delete(key);
    this.#gone.set(key, { view: known === undefined ? view : largerShape(view, known.view), lastSeenMs });
  }
}

function add(shapes: Map<string, NodeView>, { key, view }: Shape): void {
  const known = shapes.get(key);
  shapes.set(key, known === undefined ? view : largerShape(known, view));
}
