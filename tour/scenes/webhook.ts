import { Growth } from './growth.ts';
import type { Scene } from './scene.ts';
import { inWords } from './playground.ts';

export const webhook: Scene = {
  name: 'webhook',
  title: 'Kill one of three webhooks while search grows from 40 to 80',
  watchFor:
    'the others carry on from the same ledger; what the dead one had in hand is not steered, and moved if it runs on the wrong type.',
  needsRedis: true,
  async play(playground) {
    const [victim] = playground.installation.webhooks;
    const search = playground.workload('search');
    const growth = await Growth.of(search);
    const before = playground.evictions();
    const since = await playground.admissions();
    await search.scale(80);
    await playground.admitted(10, since);
    await victim?.component.kill();
    playground.installation.routeToRunning();
    const grown = await growth.splitWhenCreated(80);
    await victim?.component.start();
    playground.installation.routeToRunning();
    await playground.settled();
    const moves = playground.evictions() - before;
    await search.scale(40);
    await playground.settled();
    return `The last of 80 pods left it at ${inWords(grown)} (asked: ${inWords(search.exactly(80))}). Moves to repair it: ${moves}.`;
  },
};
