import type { Machine } from './machine.ts';
import type { BenchResult } from './results.ts';
import { markdownTable } from './table.ts';

const preamble = `# Benchmarks

Written by \`npm run bench -- --write-docs\`; do not edit. Each comparison is of two things measured in the same
run on the same machine, in turn: a ratio travels between machines, a time does not. Nothing in the test suite
asserts a time.`;

/** The page of all results, in the order of the titles. What was measured elsewhere stays as the former page has it. */
export function benchmarkPage(
  titles: readonly string[],
  results: readonly BenchResult[],
  former: string,
): string {
  const sections = titles.flatMap((title) => {
    const result = results.find((one) => one.title === title);
    return result === undefined ? sectionOf(former, title) : [section(result)];
  });
  return `${[preamble, ...sections].join('\n\n')}\n`;
}

const sectionOf = (page: string, title: string): readonly string[] =>
  page
    .split(/\n(?=## )/)
    .filter((part) => part.startsWith(`## ${title}\n`))
    .map((part) => part.trimEnd());

function section(result: BenchResult): string {
  const { name, title, baseline, tables, startedAt, seconds, quick, machine } = result;
  const facts = [
    `\`npm run bench -- ${name}${quick ? ' --quick' : ''}\` on ${startedAt.slice(0, 10)}, ${Math.round(seconds)} s, ${describe(machine)}.`,
    ...(quick ? ['**A quick run: too little was measured for these numbers to mean much.**'] : []),
    `Compared with: ${baseline}`,
  ];
  const parts = tables.map((table) => `### ${table.title}\n\n${markdownTable(table)}\n\n${table.method}`);
  return [`## ${title}`, ...facts, ...parts].join('\n\n');
}

function describe({ cpu, cores, memoryGiB, system, node }: Machine): string {
  return `${cores} cores (${cpu}), ${memoryGiB} GiB, ${system}, Node ${node}`;
}
