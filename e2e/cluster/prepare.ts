/** Gets everything that the tests need into the cache, and starts nothing: `node e2e/cluster/prepare.ts`. */
import { findDefinitions } from './binaries/definitions.ts';
import { findKarpenter } from './binaries/karpenter.ts';
import { prepareBinaries, prepareHelm, prepareKubectl, prepareNodeBinaries } from './binaries/prepare.ts';
import { announce } from './process/announce.ts';
import { reasonOf } from './process/failure.ts';
import { prepareToolbox } from './process/toolbox.ts';
import { findPrometheus } from './prometheus/program.ts';
import { whyNoRealNode } from './real-node/possible.ts';
import { findRedis } from './redis/program.ts';
import { findShells } from './shells/program.ts';

/** What some machines cannot have; the tests that need it say so and are left out. */
async function prepareExtras(): Promise<void> {
  const extras = [
    await findKarpenter(announce),
    await findPrometheus(announce),
    await findShells(announce),
    await findDefinitions(announce),
  ];
  for (const found of extras) {
    if ('missing' in found) announce(`going on without: ${found.missing}`);
  }
  const whyNot = await whyNoRealNode();
  if (whyNot !== undefined) return announce(`going on without a real node: ${whyNot}`);
  await prepareNodeBinaries();
  await prepareToolbox(announce);
}

try {
  const programs = await prepareBinaries();
  const clients = [await prepareHelm(), await prepareKubectl()];
  const redis = await findRedis({ report: announce });
  await prepareExtras();
  for (const program of [...Object.values(programs), ...clients, redis.command])
    process.stdout.write(`${program}\n`);
} catch (error) {
  announce(`cluster: ${reasonOf(error)}`);
  process.exitCode = 1;
}
