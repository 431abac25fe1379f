import type { Playground } from './playground.ts';

/** Something that happens to a cluster, told to somebody who watches. Leaves the workloads as it found them. */
export interface Scene {
  readonly name: string;
  readonly title: string;
  readonly watchFor: string;
  /** The embedded ledger has a single webhook and no droughts. */
  readonly needsRedis?: boolean;
  /** Resolves with what was seen, in a sentence. */
  readonly play: (playground: Playground) => Promise<string>;
}
