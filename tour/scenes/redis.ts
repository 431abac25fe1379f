import { Growth } from './growth.ts';
import type { Scene } from './scene.ts';
import { inWords } from './playground.ts';

export const redis: Scene = {
  name: 'redis',
  title: 'Kill Redis while search grows from 40 to 80',
  watchFor: 'no pod waits for Redis; each webhook goes on alone and the split is a pod or two off at most.',
  needsRedis: true,
  async play(playground) {
    const search = playground.workload('search');
    const growth = await Growth.of(search);
    const before = playground.evictions();
    const since = await playground.admissions();
    await search.scale(80);
    await playground.admitted(10, since);
    await playground.redis?.kill();
    const grown = await growth.splitWhenCreated(80);
    await playground.redis?.restart();
    await playground.settled();
    const moves = playground.evictions() - before;
    await search.scale(40);
    await playground.settled();
    const wanted = inWords(search.exactly(80));
    return `The last of 80 pods, made without Redis, left it at ${inWords(grown)} (asked: ${wanted}). Moves to repair it: ${moves}.`;
  },
};
