import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Findings } from './bench.ts';
import type { Machine } from './machine.ts';

/** One benchmark as it ran, as it is kept in `.results/bench/<name>.json`. */
export interface BenchResult extends Findings {
  readonly name: string;
  readonly title: string;
  readonly startedAt: string;
  readonly seconds: number;
  readonly quick: boolean;
  readonly machine: Machine;
}

export const repository = fileURLToPath(new URL('../..', import.meta.url));
const directory = join(repository, '.results', 'bench');

const fileOf = (name: string): string => join(directory, `${name}.json`);

export function saveResult(result: BenchResult): void {
  mkdirSync(directory, { recursive: true });
  writeJson(fileOf(result.name), result);
}

/** The last result of that benchmark, from whichever run. */
export function lastResult(name: string): BenchResult | undefined {
  const file = fileOf(name);
  if (!existsSync(file)) return undefined;
  const result: BenchResult = JSON.parse(readFileSync(file, 'utf8'));
  return result;
}

export function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
