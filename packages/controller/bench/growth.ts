/**
 * What the leader's work costs as the cluster grows, on generated objects fed through the real stores:
 * `node bench/growth.ts [--quick]` prints one JSON value.
 */
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { eventWork } from './growth/events.ts';
import { lookWork } from './growth/looks.ts';
import { spreadWork } from './growth/spread.ts';
import { sweepWork } from './growth/sweep.ts';

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const podCounts = values.quick ? [1_000, 10_000] : [1_000, 10_000, 100_000];
const wishCounts = values.quick ? [100, 1_000] : [100, 1_000, 2_000];
const began = performance.now();
const say = (what: string): void => {
  process.stderr.write(`${what} (${((performance.now() - began) / 1_000).toFixed(1)} s)\n`);
};

// The first of everything is slow until it is compiled, and would make the ratios look better than they are.
await lookWork(10_000);
await eventWork(10_000);
await spreadWork(10_000);
await sweepWork(1_000);

const sizes: object[] = [];
for (const pods of podCounts) {
  sizes.push({ pods, ...(await lookWork(pods)), ...(await eventWork(pods)), ...(await spreadWork(pods)) });
  say(`${pods} pods`);
}
const sweeps: object[] = [];
for (const wishes of wishCounts) {
  sweeps.push({ wishes, ...(await sweepWork(wishes)) });
  say(`${wishes} wishes`);
}
process.stdout.write(`${JSON.stringify({ sizes, sweeps })}\n`);
