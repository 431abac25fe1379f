export type Cell = string | number | null;

export interface Table {
  readonly title: string;
  /** How these numbers were measured, in a sentence or two. */
  readonly method: string;
  readonly columns: readonly { readonly key: string; readonly title: string }[];
  readonly rows: readonly Readonly<Record<string, Cell>>[];
}

/** What a benchmark hands over: tables, and beside each how its numbers came about. */
export interface Findings {
  /** What everything is compared with, in the same run. */
  readonly baseline: string;
  readonly tables: readonly Table[];
  /** What the tables were made of, for whoever wants to compute something else. */
  readonly raw?: unknown;
}

export interface BenchContext {
  /** A smaller number of everything: shows that it works, measures little. */
  readonly quick: boolean;
  /** Says on stderr what is going on. */
  readonly report: (line: string) => void;
}

export interface Bench {
  readonly name: string;
  readonly title: string;
  run(context: BenchContext): Promise<Findings>;
}
