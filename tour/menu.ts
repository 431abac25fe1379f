import { inColumns } from '@spotalis/units';
import { opening } from './performance.ts';
import type { Scene } from './scenes/scene.ts';

/** What can be done to the cluster, or what is being done to it and what to watch for meanwhile. */
export function renderMenu(scenes: readonly Scene[], playing: Scene | undefined): string {
  if (playing) return opening(playing);
  const lines = inColumns([
    ...scenes.map(({ name, title }, index) => [String(index + 1), name, title]),
    ['q', 'quit', 'end it and leave nothing behind'],
  ]);
  return ['Press a number:', ...lines.map((line) => `  ${line}`)].join('\n');
}
