/** `npm run bench -- [names...]`: measures, prints, and keeps what was measured. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inColumns } from '@spotalis/units';
import { readCommand } from './arguments.ts';
import type { Bench } from './bench.ts';
import { benches } from './catalogue.ts';
import { benchmarkPage } from './document.ts';
import { thisMachine } from './machine.ts';
import { type BenchResult, lastResult, repository, saveResult, writeJson } from './results.ts';
import { plainTable } from './table.ts';

const names = benches.map(({ name }) => name);

const usage = `Usage: npm run bench -- [names...] [--quick] [--json FILE] [--write-docs]

Measures and prints. Without a name: everything, in this order.

${inColumns(benches.map(({ name, title }) => [`  ${name}`, title])).join('\n')}

  --quick        a smaller number of everything: shows that it works, measures little
  --json FILE    the results of this run, in one file as well
  --write-docs   renders docs/benchmarks.md from the last result of each benchmark that ran here
  --help         prints this, and exits

Each result is kept in .results/bench/<name>.json.
`;

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function measure(bench: Bench, quick: boolean): Promise<BenchResult> {
  const startedAt = new Date();
  say(`== ${bench.name}: ${bench.title}`);
  const findings = await bench.run({ quick, report: (line) => say(`   ${line}`) });
  return {
    name: bench.name,
    title: bench.title,
    startedAt: startedAt.toISOString(),
    seconds: (Date.now() - startedAt.getTime()) / 1000,
    quick,
    machine: thisMachine(),
    ...findings,
  };
}

function print({ title, baseline, tables }: BenchResult): void {
  const parts = tables.map((table) => `${table.title}\n\n${plainTable(table)}\n\n(${table.method})`);
  process.stdout.write(`\n${[`# ${title}`, `Compared with: ${baseline}`, ...parts].join('\n\n')}\n`);
}

/** One benchmark that fails does not keep the others from being measured. */
async function runAll(chosen: readonly Bench[], quick: boolean): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const bench of chosen) {
    try {
      const result = await measure(bench, quick);
      saveResult(result);
      print(result);
      results.push(result);
    } catch (error) {
      say(`bench: ${bench.name} failed: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    }
  }
  return results;
}

const command = readCommand(process.argv.slice(2), names);
if (command.kind === 'help') {
  process.stdout.write(usage);
} else if (command.kind === 'wrong') {
  say(`bench: ${command.problem}`);
  process.exitCode = 1;
} else {
  // Every process that was started ends with this one, by its watchdog.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  const results = await runAll(
    benches.filter(({ name }) => command.names.includes(name)),
    command.quick,
  );
  if (command.jsonFile !== undefined) writeJson(command.jsonFile, results);
  if (command.writeDocs) {
    const file = join(repository, 'docs', 'benchmarks.md');
    const titles = benches.map(({ title }) => title);
    const known = names.flatMap((name) => lastResult(name) ?? []);
    writeFileSync(file, benchmarkPage(titles, known, readFileSync(file, 'utf8')));
  }
}
