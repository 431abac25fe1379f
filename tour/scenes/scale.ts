import { splitOf } from '@spotalis/e2e/workloads';
import type { Scene } from './scene.ts';
import { inWords } from './playground.ts';

export const scale: Scene = {
  name: 'scale',
  title: 'Scale web from 10 to 40 and back',
  watchFor: 'SPOT and ON-DEMAND are right when the last pod is made, and again after the scale-down.',
  async play(playground) {
    const web = playground.workload('web');
    await web.scale(40);
    const grown = await web.splitWhenCreated(40);
    await web.ready(40);
    await web.scale(10);
    const shrunk = splitOf(await web.ready(10));
    return `The last of 40 pods made it ${inWords(grown)}; back at 10 it was ${inWords(shrunk)}.`;
  },
};
