import { bundleServices } from '@spotalis/cluster';
import type { PolicyNumbers } from '@spotalis/core';
import type { Bench, BenchContext, Findings } from '../bench.ts';
import { type Load, settle } from '../workloads.ts';
import { type Lane, type LaneName, openLane } from './lane.ts';
import { burstTables, type Sample } from './report.ts';
import { runTrial } from './trial.ts';

const policy: PolicyNumbers = { spotPercentage: 70, minOnDemand: 2 };
const size = (deployments: number, replicas: number): Load => ({
  name: deployments === 1 ? String(replicas) : `${deployments} x ${replicas}`,
  deployments,
  replicas,
  policy,
});

/** The sizes of one group share a cluster, one after the other. */
interface Group {
  readonly sizes: readonly Load[];
  readonly rounds: number;
}

const full: readonly Group[] = [
  { sizes: [size(1, 100), size(1, 200), size(1, 500), size(50, 20)], rounds: 3 },
  { sizes: [size(250, 20)], rounds: 2 },
];
const quickly: readonly Group[] = [{ sizes: [size(1, 50), size(10, 10)], rounds: 1 }];

const warmUp = size(2, 20);
const warmUps = 4;
/** Twelve nodes; room for every pod of a group on the nodes of either type. */
const podsPerNode = 1_000;

/** Each round has another lane first. */
function inTurn(round: number): LaneName[] {
  const lanes: LaneName[] = ['spotalis', 'null-webhook', 'no-webhook'];
  return [...lanes.slice(round % 3), ...lanes.slice(0, round % 3)];
}

async function run({ quick, report }: BenchContext): Promise<Findings> {
  await bundleServices();
  const samples: Sample[] = [];
  const groups = quick ? quickly : full;
  for (const { sizes, rounds } of groups) {
    for (let round = 0; round < rounds; round++) {
      for (const lane of inTurn(round)) samples.push(...(await runLane(lane, sizes, round, report)));
    }
  }
  return {
    baseline:
      'the same installation whose three webhook replicas are replaced by ones that answer "allow" at once (null webhook), and a cluster without any webhook and any of our processes.',
    tables: burstTables(groups, samples),
    raw: samples.map(plain),
  };
}

async function runLane(
  name: LaneName,
  sizes: readonly Load[],
  round: number,
  report: (line: string) => void,
): Promise<Sample[]> {
  const lane = await openLane(name, podsPerNode);
  try {
    await warm(lane);
    const samples: Sample[] = [];
    for (const [index, each] of sizes.entries()) {
      const namespace = `burst-${index}`;
      const trial = await runTrial(lane, each, namespace);
      samples.push({ size: each.name, lane: name, round, trial });
      report(`round ${round + 1}, ${name}, ${each.name}: ${trial.seconds.toFixed(2)} s`);
      if (index < sizes.length - 1) await settle(lane.cluster.api, namespace);
    }
    return samples;
  } finally {
    await lane.close();
  }
}

/**
 * Also until the ledger's store is older than a new ReplicaSet by more than clocks may differ: before that each
 * ledger begins with a LIST, which is true of the first seconds of an installation only.
 */
async function warm(lane: Lane): Promise<void> {
  for (let attempt = 0; attempt < warmUps; attempt++) {
    const namespace = `warm-up-${attempt}`;
    const { lists } = await runTrial(lane, warmUp, namespace);
    await settle(lane.cluster.api, namespace);
    if (lists === 0) return;
  }
}

/** Histograms as JSON can hold them; of the single creations only how many there were. */
function plain({ trial, ...sample }: Sample) {
  const { admission, inside, ledger, createMs, ...rest } = trial;
  return {
    ...sample,
    ...rest,
    admission: { ...admission, buckets: Object.fromEntries(admission.buckets) },
    inside: { ...inside, buckets: Object.fromEntries(inside.buckets) },
    ledger: { ...ledger, buckets: Object.fromEntries(ledger.buckets) },
    created: createMs.length,
  };
}

export const burstBench: Bench = { name: 'burst', title: 'Bursts on a real API server', run };
