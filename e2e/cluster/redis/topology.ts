import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../process/ports.ts';
import { waitFor } from '../process/wait.ts';
import type { Credentials, Reply } from './client.ts';
import type { RedisNode } from './node.ts';

export const MASTER_NAME = 'spotalis';
/** Every slot of a Redis Cluster. */
const SLOTS = 16_384;

interface Place {
  readonly dir: string;
  readonly place: number;
  readonly port: number;
  readonly tls: boolean;
  /** What the harness itself and the other nodes log in with, where there are ACL users. */
  readonly credentials: Credentials | undefined;
}

export function dataNodeConfig({
  dir,
  place,
  port,
  tls,
  acl,
  credentials,
}: Place & { acl: readonly string[] }): string[] {
  const data = join(dir, `redis-${place}`);
  mkdirSync(data);
  const lines = [
    ...listen(dir, port, tls),
    `dir ${data}`,
    'save ""',
    'appendonly no',
    'repl-diskless-sync-delay 0',
    ...acl,
  ];
  if (credentials) {
    const { username, password } = credentials;
    lines.push(
      `user ${username} on >${password} ~* &* +@all`,
      `masteruser ${username}`,
      `masterauth ${password}`,
    );
  }
  return lines;
}

export function sentinelConfig({
  dir,
  place,
  port,
  tls,
  credentials,
  primaryPort,
  password,
}: Place & { primaryPort: number; password: string | undefined }): string[] {
  const data = join(dir, `sentinel-${place}`);
  mkdirSync(data);
  const lines = [
    ...listen(dir, port, tls),
    `dir ${data}`,
    `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${primaryPort} 2`,
    `sentinel down-after-milliseconds ${MASTER_NAME} 1000`,
    `sentinel failover-timeout ${MASTER_NAME} 5000`,
  ];
  if (credentials) {
    lines.push(
      `sentinel auth-user ${MASTER_NAME} ${credentials.username}`,
      `sentinel auth-pass ${MASTER_NAME} ${credentials.password}`,
    );
  }
  if (password !== undefined) lines.push(`requirepass ${password}`, `sentinel sentinel-pass ${password}`);
  return lines;
}

export async function clusterConfig(dir: string, place: number, tls: boolean): Promise<string[]> {
  return [
    'cluster-enabled yes',
    // Next to the port by 10,000 unless told, which may be taken.
    `cluster-port ${await freePort()}`,
    `cluster-config-file ${join(dir, `redis-${place}`, 'nodes.conf')}`,
    'cluster-node-timeout 2000',
    ...(tls ? ['tls-cluster yes'] : []),
  ];
}

function listen(dir: string, port: number, tls: boolean): string[] {
  const lines = ['bind 127.0.0.1', 'daemonize no', 'protected-mode no'];
  if (!tls) return [...lines, `port ${port}`];
  return [
    ...lines,
    'port 0',
    `tls-port ${port}`,
    `tls-cert-file ${join(dir, 'redis.crt')}`,
    `tls-key-file ${join(dir, 'redis.key')}`,
    `tls-ca-cert-file ${join(dir, 'ca.crt')}`,
    'tls-auth-clients no',
    'tls-replication yes',
  ];
}

export async function replicasReady(nodes: readonly RedisNode[], primary = 0): Promise<void> {
  for (const replica of nodes.filter((_, place) => place !== primary)) {
    await waitFor(`${replica.name} to copy its primary`, async () => {
      const info = String(await replica.command('INFO', 'replication'));
      return info.includes('master_link_status:up') || info;
    });
  }
}

/** Every Sentinel knows the replica and the other two: from here on a failover works. */
export async function sentinelsReady(sentinels: readonly RedisNode[]): Promise<void> {
  for (const sentinel of sentinels) {
    await waitFor(`${sentinel.name} to know the others`, async () => {
      const state = fields(await sentinel.command('SENTINEL', 'MASTER', MASTER_NAME));
      return (
        state.get('num-slaves') === '1' && state.get('num-other-sentinels') === String(sentinels.length - 1)
      );
    });
  }
}

export async function primaryBySentinel(
  nodes: readonly RedisNode[],
  sentinels: readonly RedisNode[],
): Promise<number> {
  const votes = new Map<number, number>();
  for (const sentinel of sentinels) {
    const answer = await sentinel
      .command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME)
      .catch(() => null);
    const port = Array.isArray(answer) ? Number(answer[1]) : Number.NaN;
    votes.set(port, (votes.get(port) ?? 0) + 1);
  }
  const [port] = [...votes].find(([, count]) => count > sentinels.length / 2) ?? [];
  const place = nodes.findIndex((node) => node.port === port);
  if (place < 0) throw new Error('the Sentinels do not agree on a primary');
  return place;
}

export async function joinCluster(nodes: readonly RedisNode[]): Promise<void> {
  const share = Math.ceil(SLOTS / nodes.length);
  const [first, ...others] = nodes;
  if (first === undefined) return;
  for (const [place, node] of nodes.entries()) {
    await node.command('CLUSTER', 'SET-CONFIG-EPOCH', String(place + 1));
    await node.command(
      'CLUSTER',
      'ADDSLOTSRANGE',
      String(place * share),
      String(Math.min(SLOTS, (place + 1) * share) - 1),
    );
  }
  for (const node of others) {
    const busPort = fields(await node.command('CONFIG', 'GET', 'cluster-port')).get('cluster-port') ?? '';
    await first.command('CLUSTER', 'MEET', node.host, String(node.port), busPort);
  }
  for (const node of nodes) {
    await waitFor(`${node.name} to see the whole cluster`, async () => {
      const info = String(await node.command('CLUSTER', 'INFO'));
      return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`);
    });
  }
}

/** A flat list of names and values, which is how RESP2 writes a map. */
function fields(reply: Reply): Map<string, string> {
  const flat = Array.isArray(reply) ? reply : [];
  const map = new Map<string, string>();
  for (let index = 0; index + 1 < flat.length; index += 2)
    map.set(String(flat[index]), String(flat[index + 1]));
  return map;
}
