import type { Bench, BenchContext, Findings, Table } from '../bench.ts';
import { runScript } from './script.ts';

interface ServerTime {
  readonly entries: number;
  readonly decideP50Us: number;
  readonly decideP99Us: number;
  readonly mergeStepP50Us: number;
  readonly mergeStepMaxUs: number;
  readonly bytesPerEntry: number;
}

interface Throughput {
  readonly inFlight: number;
  readonly reservationsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

async function run({ quick, report }: BenchContext): Promise<Findings> {
  const args = quick ? ['--quick'] : [];
  const throughput = await runScript<{ readonly results: readonly Throughput[] }>(
    'packages/ledger/bench/throughput.ts',
    args,
    report,
  );
  const serverTime = await runScript<{ readonly results: readonly ServerTime[] }>(
    'packages/ledger/bench/redis-time.ts',
    args,
    report,
  );
  return {
    baseline: 'in each table its first row.',
    tables: [throughputTable(throughput.results), serverTimeTable(serverTime.results)],
    raw: { throughput, serverTime },
  };
}

function throughputTable(results: readonly Throughput[]): Table {
  const alone = results[0]?.reservationsPerSecond ?? Number.NaN;
  return {
    title: 'Reservations from one process',
    method:
      'Decisions on 50 ReplicaSets in a real Redis on the same machine, so many under way at once, for 2 s each after half a second to warm up. Latency as the caller sees it.',
    columns: [
      { key: 'inFlight', title: 'Under way at once' },
      { key: 'rate', title: 'Reservations / s' },
      { key: 'ratio', title: 'Of one at a time' },
      { key: 'p50', title: 'p50, ms' },
      { key: 'p99', title: 'p99, ms' },
    ],
    rows: results.map(({ inFlight, reservationsPerSecond, p50Ms, p99Ms }) => ({
      inFlight,
      rate: reservationsPerSecond,
      ratio: reservationsPerSecond / alone,
      p50: p50Ms,
      p99: p99Ms,
    })),
  };
}

function serverTimeTable(results: readonly ServerTime[]): Table {
  const smallest = results[0]?.decideP50Us ?? Number.NaN;
  return {
    title: "Redis's own time, by the size of the ledger",
    method:
      'What the server says a script took, by its own SLOWLOG clock, over 2,000 decisions on a ledger of that size; a merge works in steps, of which the longest counts, since nothing else is answered meanwhile. Bytes: growth of used_memory.',
    columns: [
      { key: 'entries', title: 'Entries' },
      { key: 'p50', title: 'Decision p50, µs' },
      { key: 'p99', title: 'p99' },
      { key: 'ratio', title: 'p50 of the smallest' },
      { key: 'merge', title: 'Merge step p50, µs' },
      { key: 'mergeMax', title: 'longest' },
      { key: 'bytes', title: 'Bytes / entry' },
    ],
    rows: results.map((row) => ({
      entries: row.entries,
      p50: row.decideP50Us,
      p99: row.decideP99Us,
      ratio: row.decideP50Us / smallest,
      merge: row.mergeStepP50Us,
      mergeMax: row.mergeStepMaxUs,
      bytes: row.bytesPerEntry,
    })),
  };
}

export const ledgerBench: Bench = { name: 'ledger', title: 'The ledger', run };
