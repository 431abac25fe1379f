import type { Bench, BenchContext, Findings, Table } from '../bench.ts';
import { runScript } from './script.ts';

interface Size {
  readonly pods: number;
  readonly nodes: number;
  readonly lookUs: number;
  readonly lookBesideMoveUs: number;
  readonly podEventUs: number;
  readonly nodeEventUs: number;
  readonly nodeEventLooks: number;
  readonly spreadUs: number;
}

interface Sweep {
  readonly wishes: number;
  readonly firstMs: number;
  readonly nextMs: number;
}

interface Output {
  readonly sizes: readonly Size[];
  readonly sweeps: readonly Sweep[];
}

const work: readonly { readonly title: string; readonly of: (size: Size) => number }[] = [
  { title: 'A look where nothing is to be done, µs', of: ({ lookUs }) => lookUs },
  { title: 'The same while a move is in flight, µs', of: ({ lookBesideMoveUs }) => lookBesideMoveUs },
  { title: 'An event of a pod, µs', of: ({ podEventUs }) => podEventUs },
  { title: 'An event of a node, µs', of: ({ nodeEventUs }) => nodeEventUs },
  { title: 'Workloads looked at after it', of: ({ nodeEventLooks }) => nodeEventLooks },
  { title: 'A decision with spread, 50 candidates, µs', of: ({ spreadUs }) => spreadUs },
];

async function run({ quick, report }: BenchContext): Promise<Findings> {
  const args = quick ? ['--quick'] : [];
  const output = await runScript<Output>('packages/controller/bench/growth.ts', args, report);
  return {
    baseline: 'the same work in a cluster of the first size, and a sweep of the first number of wishes.',
    tables: [sizeTable(output), sweepTable(output)],
    raw: output,
  };
}

function sizeTable({ sizes }: Output): Table {
  const first = sizes.at(0);
  const last = sizes.at(-1);
  if (first === undefined || last === undefined) throw new Error('the script measured no size');
  const times = last.pods / first.pods;
  return {
    title: 'Work as the cluster grows',
    method: `Generated objects fed through the real stores, in one process: 20 pods on a node, 10 of a workload, ten pools of nodes that the workloads select. CPU time, medians of rounds. The last column is the work with ${times.toLocaleString('en-US')} times as many pods over that with the fewest. Before an event of a node one workload in nine drifts, half of them to each type. With spread, none of the candidates may go.`,
    columns: [
      { key: 'work', title: 'Work' },
      ...sizes.map(({ pods }) => ({ key: String(pods), title: `${pods.toLocaleString('en-US')} pods` })),
      { key: 'ratio', title: 'Ratio' },
    ],
    rows: work.map(({ title, of }) => ({
      work: title,
      ...Object.fromEntries(sizes.map((size) => [String(size.pods), of(size)])),
      ratio: of(last) / of(first),
    })),
  };
}

function sweepTable({ sweeps }: Output): Table {
  const least = sweeps.at(0);
  return {
    title: 'A sweep of workloads that ask for placeholders',
    method:
      'CPU of one turn in which each workload asks once: the first turn, in which all are new, and the median of three later ones. Ten placeholders may be there. The ratio is per wish, over that of the fewest.',
    columns: [
      { key: 'wishes', title: 'Workloads' },
      { key: 'first', title: 'First turn, ms' },
      { key: 'next', title: 'Later turn, ms' },
      { key: 'ratio', title: 'First turn per workload, ratio' },
    ],
    rows: sweeps.map(({ wishes, firstMs, nextMs }) => ({
      wishes,
      first: firstMs,
      next: nextMs,
      ratio: least === undefined ? null : firstMs / wishes / (least.firstMs / least.wishes),
    })),
  };
}

export const growthBench: Bench = { name: 'growth', title: 'The leader as the cluster grows', run };
