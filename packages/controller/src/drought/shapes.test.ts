import { describe, expect, it } from '@jest/globals';
import { aCluster, aNode } from '../testing/objects.ts';
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
});
