/** Gets everything that a cluster needs into the cache, and starts nothing: `node e2e/cluster/prepare.ts`. */
import { prepareBinaries, prepareHelm } from './binaries/prepare.ts';
import { announce } from './process/announce.ts';
import { reasonOf } from './process/failure.ts';
import { findRedis } from './redis/program.ts';

try {
  const programs = await prepareBinaries();
  const helm = await prepareHelm();
  const redis = await findRedis({ report: announce });
  for (const program of [...Object.values(programs), helm, redis.command])
    process.stdout.write(`${program}\n`);
} catch (error) {
  announce(`cluster: ${reasonOf(error)}`);
  process.exitCode = 1;
}
