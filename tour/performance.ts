import type { Scene } from './scenes/scene.ts';
import type { Theatre } from './scenes/theatre.ts';

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

export async function perform(scene: Scene, theatre: Theatre): Promise<Ending> {
  if (scene.needsRedis && theatre.redis === undefined) {
    return { off: 0, account: `${scene.name}: left out, since it needs a Redis.` };
  }
  await theatre.prepare();
  const began = performance.now();
  const evictedBefore = theatre.evictions();
  const finding = await scene.play(theatre);
  const off = await theatre.offTarget();
  const evictions = theatre.evictions() - evictedBefore;
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  return {
    off,
    account: `${scene.name}: ${count(off, 'pod')} off target, ${count(evictions, 'eviction')}, ${seconds} s. ${finding}`,
  };
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
