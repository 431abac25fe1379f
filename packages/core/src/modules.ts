import { distribution } from './distribution/module.ts';
import type { ModuleParts } from './module/declaration.ts';
import { rightsizing } from './rightsizing/module.ts';

/** Every module that there is. Their settings join those of the product in settings.ts. */
export const modules: readonly ModuleParts[] = [distribution, rightsizing];
