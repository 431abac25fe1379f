/** Gets everything that a cluster is made of, so that no test waits for a download or a build. */
import { prepareBinaries } from './binaries/prepare.ts';
import { announce } from './process/announce.ts';
import { reasonOf } from './process/failure.ts';
import { findRedis } from './redis/program.ts';

try {
  await prepareBinaries();
  await findRedis({ report: announce });
} catch (error) {
  announce(reasonOf(error));
  process.exitCode = 1;
}
