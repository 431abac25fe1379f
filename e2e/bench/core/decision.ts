import { deletionCost, type PolicyNumbers, position, typeForNext } from '@spotalis/core';
import type { Bench, BenchContext, Findings } from '../bench.ts';
import { median } from '../statistics.ts';

const replicaCounts = [10, 100, 1_000, 5_000];
const policies: readonly PolicyNumbers[] = [
  { spotPercentage: 70, minOnDemand: 1 },
  { spotPercentage: 33, minOnDemand: 7 },
  { spotPercentage: 100, minOnDemand: 0 },
  { spotPercentage: 90, minOnDemand: 4 },
];

/** Written to by every loop and read at the end, so that no loop is optimized away. */
let sink = 0;

/** What every admission computes: the type by the counts, then where the pod stands and what it costs to delete. */
function decide(policy: PolicyNumbers, spot: number, onDemand: number): number {
  const type = typeForNext(policy, { spot, onDemand });
  const rank = type === 'spot' ? spot : onDemand;
  return position(policy, type, rank) + deletionCost(policy, type, rank);
}

/** The loop without the decision: counters, the policy looked up, the sink. */
function nothing(policy: PolicyNumbers, spot: number, onDemand: number): number {
  return policy.spotPercentage + spot + onDemand;
}

function nsPerCall(body: typeof decide, replicas: number, calls: number): number {
  const began = process.hrtime.bigint();
  let total = 0;
  for (let i = 0; i < calls; i++) {
    const policy = policies[i & 3];
    if (policy === undefined) break;
    const spot = i % replicas;
    total += body(policy, spot, replicas - spot);
  }
  sink += total;
  return Number(process.hrtime.bigint() - began) / calls;
}

async function run({ quick }: BenchContext): Promise<Findings> {
  const calls = quick ? 200_000 : 2_000_000;
  const rounds = quick ? 5 : 15;
  const samples = replicaCounts.map((replicas) => ({
    replicas,
    decision: new Array<number>(),
    loop: new Array<number>(),
  }));
  // The first round warms up; the two bodies alternate, so that a slow moment of the machine meets both.
  for (let round = 0; round <= rounds; round++) {
    for (const { replicas, decision, loop } of samples) {
      const loopNs = nsPerCall(nothing, replicas, calls);
      const decisionNs = nsPerCall(decide, replicas, calls);
      if (round === 0) continue;
      loop.push(loopNs);
      decision.push(decisionNs);
    }
  }
  if (!Number.isFinite(sink)) throw new Error('a decision was not a number');
  const rows = samples.map(({ replicas, decision, loop }) => ({
    replicas,
    decision: median(decision),
    loop: median(loop),
    net: median(decision) - median(loop),
    ratio: median(decision) / median(loop),
  }));
  return {
    baseline: 'the same loop with an addition in place of the decision.',
    tables: [
      {
        title: 'One decision',
        method: `The type of the next pod, its position and its deletion cost, over four policies and every mix of the two types. Median of ${rounds} rounds of ${calls.toLocaleString('en-US')} calls after one to warm up, decision and empty loop in turn.`,
        columns: [
          { key: 'replicas', title: 'Replicas' },
          { key: 'decision', title: 'Decision, ns' },
          { key: 'loop', title: 'Empty loop, ns' },
          { key: 'net', title: 'Difference, ns' },
          { key: 'ratio', title: 'Decision / empty loop' },
        ],
        rows,
      },
    ],
    raw: samples,
  };
}

export const coreBench: Bench = { name: 'core', title: 'The rule itself', run };
