import type { Scene } from './scene.ts';

export const drought: Scene = {
  name: 'drought',
  title: 'Take all spot nodes away, and give them back',
  watchFor:
    'the pods wait once, for 10 s; on-demand substitutes stand in; with the nodes they go back one by one.',
  needsRedis: true,
  async play(theatre) {
    const began = performance.now();
    await theatre.cluster.withdrawCapacity('spot');
    await theatre.serving();
    const bridged = ((performance.now() - began) / 1000).toFixed(1);
    const before = theatre.evictions();
    await theatre.cluster.returnCapacity('spot');
    await theatre.settled();
    return `All pods were Ready again after ${bridged} s without spot; ${theatre.evictions() - before} moves brought them back.`;
  },
};
