import type { Scene } from './scenes/scene.ts';
import type { Theatre } from './scenes/theatre.ts';

export interface Ending {
  /** Pods that are not where they should be, at the end. */
  readonly off: number;
}

/** Plays a scene, with a line before on what to watch for and a line after on what happened. */
export async function perform(scene: Scene, theatre: Theatre, tell: (line: string) => void): Promise<Ending> {
  const missing = scene.needsRedis && theatre.redis === undefined;
  if (missing) {
    tell(`${scene.name}: left out, since it needs a Redis.`);
    return { off: 0 };
  }
  tell(`${scene.title}. Watch: ${scene.watchFor}`);
  const began = performance.now();
  const evictedBefore = theatre.evictions();
  const finding = await scene.play(theatre);
  const off = await theatre.offTarget();
  const evictions = theatre.evictions() - evictedBefore;
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  tell(`${scene.name}: ${off} pods off target, ${evictions} evictions, ${seconds} s. ${finding}`);
  return { off };
}
