import type { Bench, BenchContext, Findings } from '../bench.ts';
import { runScript } from './script.ts';

interface Finding {
  readonly syncMs: number;
  readonly longestStallMs: number;
  readonly peakGrowthMb: number;
  readonly settledGrowthMb: number;
}

interface Comparison {
  readonly pods: number;
  readonly podBytes: number;
  readonly createdPerSecond: number;
  readonly reflector: Finding;
  readonly informer: Finding;
}

const measures: readonly { readonly title: string; readonly of: (finding: Finding) => number }[] = [
  { title: 'Until synced, ms', of: ({ syncMs }) => syncMs },
  { title: 'Longest stall of the event loop, ms', of: ({ longestStallMs }) => longestStallMs },
  { title: 'Memory at the peak, MB more', of: ({ peakGrowthMb }) => peakGrowthMb },
  { title: 'Memory when settled, MB more', of: ({ settledGrowthMb }) => settledGrowthMb },
];

async function run({ quick, report }: BenchContext): Promise<Findings> {
  const args = ['--json', '--pods', quick ? '2000' : '20000'];
  const comparison = await runScript<Comparison>('packages/kube/bench/store.ts', args, report);
  const { pods, podBytes, reflector, informer } = comparison;
  return {
    baseline: 'the informer of `@kubernetes/client-node` on the same pods of the same API server.',
    tables: [
      {
        title: `Taking in ${pods.toLocaleString('en-US')} pods`,
        method: `Pods of ${podBytes.toLocaleString('en-US')} bytes in a real API server; each way lists and then watches them in a process of its own, once. Memory is the resident set over that before the start, after a collection of garbage.`,
        columns: [
          { key: 'measure', title: 'Measure' },
          { key: 'ours', title: 'Reflector and store' },
          { key: 'theirs', title: 'Informer' },
          { key: 'ratio', title: 'Ratio' },
        ],
        rows: measures.map(({ title, of }) => ({
          measure: title,
          ours: of(reflector),
          theirs: of(informer),
          ratio: of(reflector) / of(informer),
        })),
      },
    ],
    raw: comparison,
  };
}

export const kubeBench: Bench = { name: 'kube', title: 'Keeping the cluster in memory', run };
