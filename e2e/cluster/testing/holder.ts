/** A process that holds a cluster and a redis and says so, for tests that end it in some way. */
import { startCluster } from '../cluster.ts';
import { startRedis } from '../redis/servers.ts';

const cluster = await startCluster({ spotNodes: 1, onDemandNodes: 1 });
const redis = await startRedis();
const { stateDir, pids, ports } = cluster;
process.stdout.write(
  `${JSON.stringify({ stateDir, pids: { ...pids, redis: redis.node(0).pid ?? 0 }, ports: { ...ports, redis: redis.port } })}\n`,
);
if (process.argv[2] === 'stop') {
  await cluster.stop();
  await redis.stop();
} else {
  setInterval(() => undefined, 2 ** 30);
}
