import type { Scene } from './scene.ts';

export const drought: Scene = {
  name: 'drought',
  title: 'Take all spot nodes away, and give them back',
  watchFor:
    'the pods wait once, for 10 s; on-demand substitutes stand in; with the nodes they go back one by one.',
  needsRedis: true,
  async play(playground) {
    const began = performance.now();
    await playground.cluster.withdrawCapacity('spot');
    await playground.serving();
    const bridged = ((performance.now() - began) / 1000).toFixed(1);
    const before = playground.evictions();
    await playground.cluster.returnCapacity('spot');
    await playground.settled();
    return `All pods were Ready again after ${bridged} s without spot; ${playground.evictions() - before} moves brought them back.`;
  },
};
