import type { Scene } from './scenes/scene.ts';
import type { Playground } from './scenes/playground.ts';

export interface Ending {
  /** Pods that are not where they should be, at the end. */
  readonly off: number;
  /** What happened, in a line. */
  readonly account: string;
}

/** What is about to happen, and what to watch for. */
export function opening({ title, watchFor }: Scene): string {
  return `${title}. Watch: ${watchFor}`;
}

export async function perform(scene: Scene, playground: Playground): Promise<Ending> {
  if (scene.needsRedis && playground.redis === undefined) {
    return { off: 0, account: `${scene.name}: left out, since it needs a Redis.` };
  }
  await playground.prepare();
  const began = performance.now();
  const evictedBefore = playground.evictions();
  const finding = await scene.play(playground);
  const off = await playground.offTarget();
  const evictions = playground.evictions() - evictedBefore;
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  return {
    off,
    account: `${scene.name}: ${count(off, 'pod')} off target, ${count(evictions, 'eviction')}, ${seconds} s. ${finding}`,
  };
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
