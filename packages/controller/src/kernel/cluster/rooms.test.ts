import { describe, expect, it } from '@jest/globals';
import { aCluster, aNode, aPod } from '../../testing/objects.ts';
import { Rooms, type RoomsOptions } from './rooms.ts';

function stage(options: RoomsOptions = {}) {
  const cluster = aCluster();
  const rooms = new Rooms(cluster, options);
  cluster.nodes.upsert(aNode('n1', 'spot'), true);
  cluster.nodes.upsert(aNode('n2', 'on-demand'), true);
  const free = (node: string) => rooms.views(new Map()).get(node)?.free['pods'];
  return { cluster, rooms, free };
}

describe('the room on the nodes', () => {
  it('is what pods leave, also those that are terminating, but not those that have ended', () => {
    const { cluster, free } = stage();
    cluster.pods.upsert(aPod('a', { node: 'n1' }), true);
    cluster.pods.upsert(aPod('b', { node: 'n1', terminating: true }), true);
    cluster.pods.upsert(aPod('c', { node: 'n1', phase: 'Failed' }), true);
    expect(free('n1')).toBe(108);
    expect(free('n2')).toBe(110);
  });

  it('follows pods that come, get a node and go', () => {
    const { cluster, free } = stage();
    cluster.pods.upsert(aPod('a'), false);
    expect(free('n1')).toBe(110);
    cluster.pods.upsert(aPod('a', { node: 'n1' }), false);
    expect(free('n1')).toBe(109);
    cluster.pods.remove('shop/a');
    expect(free('n1')).toBe(110);
  });

  it('is less by what is promised, and only for whoever asks', () => {
    const { rooms, free } = stage();
    const views = rooms.views(new Map([['n2', { pods: 10 }]]));
    expect(views.get('n2')?.free['pods']).toBe(100);
    expect(free('n2')).toBe(110);
  });

  it('is less by what is promised where all nodes are walked, and no other node is copied', () => {
    const { rooms } = stage();
    const before = [...rooms.views(new Map()).values()];
    const views = rooms.views(
      new Map([
        ['n2', { pods: 10 }],
        ['gone', { pods: 1 }],
      ]),
    );
    const walked = [...views.values()];
    expect(walked.map(({ name, free }) => [name, free['pods']])).toEqual([
      ['n1', 110],
      ['n2', 100],
    ]);
    expect(walked[0]).toBe(before[0]);
    expect(views.get('gone')).toBeUndefined();
  });

  it('is asked of as few nodes as are promised room, however many there are', () => {
    const { cluster, rooms } = stage();
    for (let index = 3; index <= 1_000; index++) cluster.nodes.upsert(aNode(`n${index}`, 'spot'), true);
    const all = rooms.views(new Map());
    const walked = () => {
      throw new Error('all nodes are walked');
    };
    for (const way of ['values', 'entries', 'forEach', Symbol.iterator]) {
      Object.defineProperty(all, way, { value: walked });
    }
    const views = rooms.views(new Map([['n2', { pods: 10 }]]));
    expect(views.get('n2')?.free['pods']).toBe(100);
    expect(views.get('n3')?.free['pods']).toBe(110);
    expect(() => views.values().next()).toThrow('all nodes are walked');
  });

  it('is none where pods of others are not seen, whatever is promised there', () => {
    const { cluster, rooms } = stage({ onlyProven: true });
    cluster.pods.upsert(aPod('a', { node: 'n1' }), true);
    const views = rooms.views(new Map([['n1', { pods: 1 }]]));
    expect(views.get('n1')).toMatchObject({ type: 'spot', free: {}, allocatable: { pods: 110 } });
    expect(views.get('n2')?.free).toEqual({});
  });

  it('goes with its node', () => {
    const { cluster, free } = stage();
    cluster.nodes.remove('n1');
    expect(free('n1')).toBeUndefined();
  });
});
