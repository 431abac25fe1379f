import { drought } from './drought.ts';
import { redis } from './redis.ts';
import { rollout } from './rollout.ts';
import { scale } from './scale.ts';
import type { Scene } from './scene.ts';
import { share } from './share.ts';
import { webhook } from './webhook.ts';

/** In the order of the menu. */
export const scenes: readonly Scene[] = [scale, rollout, share, webhook, redis, drought];
