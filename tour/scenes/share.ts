import { policyKeys } from '@spotalis/core';
import type { Scene } from './scene.ts';

export const share: Scene = {
  name: 'share',
  title: 'Raise the share of web from 70 % to 90 %, and take it back',
  watchFor: 'two pods move to spot, one at a time, and later two move back. No pod is touched without need.',
  async play(playground) {
    const web = playground.workload('web');
    const before = playground.evictions();
    await web.patch({ metadata: { annotations: { [policyKeys.spotPercentage]: '90' } } });
    await playground.until('web to be at 9 on spot', (rows) =>
      rows.some(({ workload, spot, ready }) => workload === web.path && spot.actual === 9 && ready === 10),
    );
    const there = playground.evictions() - before;
    await web.patch({ metadata: { annotations: { [policyKeys.spotPercentage]: '70' } } });
    await playground.settled();
    return `${there} moves there and ${playground.evictions() - before - there} back.`;
  },
};
