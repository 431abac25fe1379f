import { bundleServices } from '@spotalis/cluster';
import { openTestbed } from '../../testbed/testbed.ts';
import type { Bench, BenchContext, Findings } from '../bench.ts';
import { runPool } from './pool.ts';
import { droughtTables, type Round } from './report.ts';
import { runDrought } from './trial.ts';

const policy = { spotPercentage: 70, minOnDemand: 2 };
const fallbackAfterSeconds = 10;

const full = { from: 10, to: 40, droughtSeconds: 30, rounds: 2, workloads: 30 };
const quickly = { from: 4, to: 10, droughtSeconds: 15, rounds: 1, workloads: 8 };

const configuration = {
  fallback: { after: `${fallbackAfterSeconds}s`, backoff: { initial: '5s', max: '30s' } },
  rebalance: {
    cooldown: '100ms',
    minPodAge: '1s',
    maxMovesPerMinute: 1_000,
    maxInFlight: { namespace: 50, node: 50, cluster: 100 },
  },
};

async function run({ quick, report }: BenchContext): Promise<Findings> {
  const { rounds: count, workloads, from, to, droughtSeconds } = quick ? quickly : full;
  await bundleServices();
  const testbed = await openTestbed({ configuration });
  try {
    const pool = await runPool(testbed, workloads);
    report(`${workloads} workloads: the later ones ran after ${pool.later.readySeconds.toFixed(1)} s`);
    const rounds: Round[] = [];
    for (let index = 0; index <= count; index++) {
      // The last one, because nobody starts it again.
      const killsLeader = index === count;
      const drought = {
        name: `round-${index}`,
        from,
        to,
        policy,
        droughtMs: droughtSeconds * 1000,
        killsLeader,
      };
      const trials = await runDrought(testbed, drought);
      rounds.push({ drought, trials });
      const bridged = trials.find(({ lane }) => lane === 'spotalis')?.bridgedSeconds?.toFixed(1);
      report(`round ${index + 1}${killsLeader ? ', leader killed' : ''}: bridged after ${bridged} s`);
    }
    const settings = { fallbackAfterSeconds, from, to, droughtSeconds };
    return {
      baseline:
        'the same workload in the same drought with `spot-fallback-after: never`, whose pods wait until spot is back.',
      tables: droughtTables(rounds, pool, settings),
      raw: { rounds, pool },
    };
  } finally {
    await testbed.close();
  }
}

export const droughtBench: Bench = { name: 'drought', title: 'A lack of spot capacity', run };
