import { Growth } from './growth.ts';
import type { Scene } from './scene.ts';
import { inWords } from './theatre.ts';

export const webhook: Scene = {
  name: 'webhook',
  title: 'Kill one of three webhooks while search grows from 40 to 80',
  watchFor:
    'the others carry on from the same ledger; what the dead one had in hand is not steered, and moved if it runs on the wrong type.',
  needsRedis: true,
  async play(theatre) {
    const [victim] = theatre.installation.webhooks;
    const search = theatre.workload('search');
    const growth = await Growth.of(search);
    const before = theatre.evictions();
    const since = await theatre.admissions();
    await search.scale(80);
    await theatre.admitted(10, since);
    await victim?.component.kill();
    theatre.installation.routeToRunning();
    const grown = await growth.splitWhenCreated(80);
    await victim?.component.start();
    theatre.installation.routeToRunning();
    await theatre.settled();
    const moves = theatre.evictions() - before;
    await search.scale(40);
    await theatre.settled();
    return `The last of 80 pods left it at ${inWords(grown)} (asked: ${inWords(search.exactly(80))}). Moves to repair it: ${moves}.`;
  },
};
