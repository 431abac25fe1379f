/**
 * The store of 20,000 pods beside client-node's informer: `node bench/store.ts [--pods 20000] [--json]`.
 */
import { parseArgs } from 'node:util';
import { startCluster } from '@spotalis/cluster';
import { compareStores } from '../src/testing/store-comparison.ts';
import type { Finding } from '../src/testing/store-follower.ts';

const { values } = parseArgs({
  options: { pods: { type: 'string', default: '20000' }, json: { type: 'boolean', default: false } },
});
const count = Number(values.pods);
if (!Number.isSafeInteger(count) || count < 1) {
  throw new RangeError(`--pods is a number of pods such as 20000, not "${values.pods}"`);
}
const cluster = await startCluster({ spotNodes: 0, onDemandNodes: 0 });
try {
  const comparison = await compareStores(cluster.kubeconfig, count);
  const { reflector, informer, podBytes, createdPerSecond } = comparison;
  process.stdout.write(
    values.json
      ? `${JSON.stringify(comparison)}\n`
      : `${[
          `${count} pods of ${podBytes} bytes (made at ${createdPerSecond.toFixed(0)} a second)`,
          `${'way'.padEnd(22)}${['time ms', 'longest stall ms', 'peak RSS +MB', 'RSS after +MB'].map((title) => title.padStart(18)).join('')}`,
          row('reflector and store', reflector),
          row('client-node informer', informer),
        ].join('\n')}\n`,
  );
} finally {
  await cluster.stop();
}

function row(name: string, { syncMs, longestStallMs, peakGrowthMb, settledGrowthMb }: Finding): string {
  const cells = [
    syncMs.toFixed(0),
    longestStallMs.toFixed(1),
    peakGrowthMb.toFixed(0),
    settledGrowthMb.toFixed(0),
  ];
  return name.padEnd(22) + cells.map((cell) => cell.padStart(18)).join('');
}
