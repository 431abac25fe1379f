import type { Module } from '../kernel/module.ts';
import { distribution } from './distribution/module.ts';

/** Every module of the controller. Metrics, Events and reasons in docs/ follow from it. */
export const modules: readonly Module[] = [distribution];
