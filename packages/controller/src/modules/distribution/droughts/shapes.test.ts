import { describe, expect, it } from '@jest/globals';
import { aCluster, aNode } from '../../../testing/objects.ts';
import { Shapes } from './shapes.ts';

const HOUR_MS = 3_600_000;

function shapesOf() {
  const clock = { nowMs: 0 };
  const cluster = aCluster();
  const shapes = new Shapes(cluster, () => clock.nowMs);
  const types = () => [...shapes.views().values()].map(({ type }) => type).toSorted();
  return { clock, cluster, shapes, types };
}

describe('the shapes of nodes', () => {
  it('are one for all nodes that are alike', () => {
    const { cluster, types } = shapesOf();
    for (const name of ['a', 'b', 'c']) cluster.nodes.upsert(aNode(name, 'spot'), true);
    cluster.nodes.upsert(aNode('d', 'on-demand'), true);
    expect(types()).toEqual(['on-demand', 'spot']);
  });

  it('are remembered for a day after the last such node has gone', () => {
    const { clock, cluster, types, shapes } = shapesOf();
    const node = aNode('a', 'spot');
    cluster.nodes.upsert(node, true);
    cluster.nodes.remove(node.metadata.name);
    expect(types()).toEqual(['spot']);
    expect([...shapes.views().values()][0]?.free).toEqual(node.allocatable);
    clock.nowMs = 25 * HOUR_MS;
    cluster.nodes.upsert(aNode('b', 'on-demand'), true);
    expect(types()).toEqual(['on-demand']);
  });

  it('are as empty, Ready nodes have them', () => {
    const { cluster, shapes } = shapesOf();
    cluster.nodes.upsert({ ...aNode('a', 'spot'), ready: false, cordoned: true }, true);
    expect([...shapes.views().values()]).toMatchObject([{ ready: true, cordoned: false }]);
  });

  const KIB = 1_024;
  const GIB = KIB ** 3;
  /** A node with some memory, and labels beside those of its type. */
  const nodeWith = (name: string, memory: number, labels: Readonly<Record<string, string>> = {}) => {
    const node = aNode(name, 'spot');
    return {
      ...node,
      labels: { ...node.labels, ...labels },
      allocatable: { ...node.allocatable, memory },
    };
  };
  const pools = (views: ReturnType<Shapes['views']>) => new Set([...views.values()].map(poolOf));
  const poolOf = ({ labels }: { readonly labels: Readonly<Record<string, string>> }) => labels['pool'];

  it('have all nodes that are there, however many are gone that were like no other', () => {
    const { cluster, shapes } = shapesOf();
    cluster.nodes.upsert(nodeWith('rare', GIB, { pool: 'rare' }), true);
    for (let index = 0; index < 700; index++) {
      const node = nodeWith(`n${index}`, GIB + index * GIB, {
        pool: `pool-${index % 50}`,
        instance: `i-${index}`,
      });
      cluster.nodes.upsert(node, true);
      cluster.nodes.remove(node.metadata.name);
    }
    for (let index = 0; index < 700; index++) {
      cluster.nodes.upsert(nodeWith(`m${index}`, GIB, { pool: `present-${index}` }), true);
    }
    const seen = pools(shapes.views());
    expect(seen).toContain('rare');
    expect([...seen].filter((pool) => pool?.startsWith('present-'))).toHaveLength(700);
  });

  it('are few for many machines of one kind, and take what the largest of them takes', () => {
    const { cluster, shapes } = shapesOf();
    for (let index = 0; index < 700; index++) {
      cluster.nodes.upsert(nodeWith(`n${index}`, 30 * GIB + index * KIB), true);
    }
    const views = [...shapes.views().values()];
    expect(views.length).toBeLessThanOrEqual(2);
    expect(Math.max(...views.map(({ free }) => free['memory'] ?? 0))).toBe(30 * GIB + 699 * KIB);
  });

  it('of a pool that is gone outlast thousands of others that each had an identifier of their own', () => {
    const { cluster, shapes } = shapesOf();
    cluster.nodes.upsert(nodeWith('rare', GIB, { pool: 'rare', instance: 'i-rare' }), true);
    cluster.nodes.remove('rare');
    for (let index = 0; index < 2_000; index++) {
      const node = nodeWith(`n${index}`, 8 * GIB, { pool: 'churning', instance: `i-${index}` });
      cluster.nodes.upsert(node, true);
      cluster.nodes.remove(node.metadata.name);
    }
    expect(pools(shapes.views())).toEqual(new Set(['rare', 'churning']));
  });

  it('are not made anew by a heartbeat', () => {
    const { cluster, shapes } = shapesOf();
    cluster.nodes.upsert(nodeWith('a', GIB), true);
    const before = shapes.views();
    cluster.nodes.upsert(nodeWith('a', GIB), false);
    expect(shapes.views()).toBe(before);
    cluster.nodes.upsert(nodeWith('a', GIB + 1), false);
    expect(shapes.views()).not.toBe(before);
  });
});
