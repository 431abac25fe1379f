import type { Resources } from './resources.ts';

/** What a container asks for and may use at most. A resource that is absent is not set, or is not meant. */
export interface Size {
  readonly requests: Resources;
  readonly limits: Resources;
}

/** By container. */
export type Sizes = ReadonlyMap<string, Size>;

/** The two halves of a size. */
export const sizeFields = ['requests', 'limits'] as const;
export type SizeField = (typeof sizeFields)[number];
