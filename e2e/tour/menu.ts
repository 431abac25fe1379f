import { opening } from './performance.ts';
import type { Scene } from './scenes/scene.ts';

/** What can be done to the cluster, or what is being done to it and what to watch for meanwhile. */
export function renderMenu(scenes: readonly Scene[], playing: Scene | undefined): string {
  if (playing) return opening(playing);
  const width = Math.max(...scenes.map(({ name }) => name.length));
  const lines = scenes.map(({ name, title }, index) => `  ${index + 1}  ${name.padEnd(width)}  ${title}`);
  return ['Press a number:', ...lines, `  q  ${'quit'.padEnd(width)}  end it and leave nothing behind`].join(
    '\n',
  );
}
