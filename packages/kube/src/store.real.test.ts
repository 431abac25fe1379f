/** @needs control-plane */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Cluster, startCluster } from '@spotalis/cluster';
import { compareStores } from './testing/store-comparison.ts';

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ spotNodes: 0, onDemandNodes: 0 });
}, 120_000);

afterAll(async () => {
  await cluster?.stop();
}, 30_000);

it('takes in 5,000 pods with a far shorter stall and less memory than the informer', async () => {
  const { reflector, informer } = await compareStores(cluster.kubeconfig, 5_000, 3);
  process.stdout.write(
    `5,000 pods: reflector ${reflector.syncMs.toFixed(0)} ms, stall ${reflector.longestStallMs.toFixed(1)} ms, ` +
      `peak +${reflector.peakGrowthMb.toFixed(0)} MB; informer ${informer.syncMs.toFixed(0)} ms, ` +
      `stall ${informer.longestStallMs.toFixed(1)} ms, peak +${informer.peakGrowthMb.toFixed(0)} MB\n`,
  );
  // Both ran on the same machine in the same minute: the ratio holds where absolute times do not.
  expect(reflector.longestStallMs).toBeLessThan(informer.longestStallMs / 3);
  expect(reflector.peakGrowthMb).toBeLessThan(informer.peakGrowthMb);
}, 120_000);
