import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, issueLeaf } from '@spotalis/runtime';
import { aMonth } from '../certificates.ts';
import { freePorts } from '../process/ports.ts';
import { scratchDir } from '../process/scratch.ts';
import { Supervisor } from '../process/supervisor.ts';
import { announce } from '../process/announce.ts';
import { waitFor } from '../process/wait.ts';
import { RedisNode } from './node.ts';
import { findRedis, type RedisProgram } from './program.ts';
import * as topology from './topology.ts';

export interface RedisOptions {
  /** sentinel: a primary, a replica and three Sentinels. cluster: three primaries. */
  readonly mode?: 'standalone' | 'sentinel' | 'cluster';
  /** The plain port is closed then. */
  readonly tls?: boolean;
  /**
   * Users in the words of an ACL file: `user webhook on >secret ~spotalis:* +@all`. Say `user default off` to
   * close the server to everybody else.
   */
  readonly acl?: readonly string[];
  /** Of the Sentinels, which then answer nobody without it. */
  readonly sentinelPassword?: string;
  /** More lines for the configuration of the data nodes, `maxmemory 10mb` for example. */
  readonly config?: readonly string[];
  /** Gets a line when redis-server has to be fetched first. */
  readonly report?: (line: string) => void;
}

interface RedisServersParts {
  readonly mode: RedisServers['mode'];
  readonly nodes: readonly RedisNode[];
  readonly sentinels: readonly RedisNode[];
  readonly ca: string | undefined;
  readonly stop: () => Promise<void>;
}

/** A redis installation made of real processes. `node` is a place in `nodes`. */
export class RedisServers {
  readonly mode: 'standalone' | 'sentinel' | 'cluster';
  /** Data nodes. With Sentinel the first is the primary until a failover. */
  readonly nodes: readonly RedisNode[];
  readonly sentinels: readonly RedisNode[];
  /** The name under which the Sentinels know the primary. */
  readonly masterName = topology.MASTER_NAME;
  /** PEM of the authority, with TLS. */
  readonly ca: string | undefined;
  readonly #stop: () => Promise<void>;

  constructor({ mode, nodes, sentinels, ca, stop }: RedisServersParts) {
    this.mode = mode;
    this.nodes = nodes;
    this.sentinels = sentinels;
    this.ca = ca;
    this.#stop = stop;
  }

  /** Of the first data node, without a user. */
  get url(): string {
    return `${this.ca === undefined ? 'redis' : 'rediss'}://${this.host}:${this.port}`;
  }

  get host(): string {
    return this.node(0).host;
  }

  get port(): number {
    return this.node(0).port;
  }

  node(place: number): RedisNode {
    const node = this.nodes[place];
    if (node === undefined)
      throw new RangeError(`no redis node ${place}; there are 0 to ${this.nodes.length - 1}`);
    return node;
  }

  /** The place of the primary: with Sentinel as most Sentinels see it now, else the first node. */
  async primary(): Promise<number> {
    if (this.mode !== 'sentinel') return 0;
    return topology.primaryBySentinel(this.nodes, this.sentinels);
  }

  /** Resolves when the others have what the primary has. Sentinels turn an old primary into a replica after 8 s. */
  async replicated(): Promise<void> {
    await topology.replicasReady(this.nodes, await this.primary());
  }

  async kill(node?: number): Promise<void> {
    await this.node(node ?? (await this.primary())).kill();
  }

  freeze(node = 0): void {
    this.node(node).freeze();
  }

  thaw(node = 0): void {
    this.node(node).thaw();
  }

  /** Kills it if it still runs. The data of a node without a replica is lost, as it is in a crash. */
  async restart(node = 0): Promise<void> {
    await this.node(node).restart();
  }

  /** Kills the primary and resolves with the place of the next one, once the Sentinels agree on it. */
  async failOver({ timeoutMs = 30_000 } = {}): Promise<number> {
    if (this.mode !== 'sentinel') throw new Error(`a failover needs mode sentinel, this is ${this.mode}`);
    const before = await this.primary();
    await this.kill(before);
    const found = await waitFor(
      'another redis primary',
      async () => {
        const now = await this.primary();
        return now === before ? null : { now };
      },
      { timeoutMs },
    );
    return found.now;
  }

  /** Ends every process and removes every file. */
  async stop(): Promise<void> {
    await this.#stop();
  }
}

/** Starts real redis servers on free loopback ports. Nothing of them outlives `stop()` or this process. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServers> {
  const program = await findRedis({ report: options.report ?? announce });
  const dir = scratchDir('redis');
  const supervisor = await Supervisor.start(dir, [dir]);
  const stop = () => supervisor.stop();
  try {
    return await startRedisUnder({ supervisor, dir, program, stop }, options);
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Home {
  readonly supervisor: Supervisor;
  /** Empty, and gone with the supervisor. */
  readonly dir: string;
  readonly program: RedisProgram;
  readonly stop: () => Promise<void>;
}

export async function startRedisUnder(home: Home, options: RedisOptions): Promise<RedisServers> {
  const { mode = 'standalone', tls = false, acl, sentinelPassword, config = [] } = options;
  const { dir, supervisor, program, stop } = home;
  const ca = tls ? await writeCertificates(dir) : undefined;
  const credentials = acl ? { username: 'test-cluster', password: randomUUID() } : undefined;
  const shared = { dir, supervisor, program, ca, credentials };
  const ports = await freePorts(NODES[mode]);
  const nodes: RedisNode[] = [];
  for (const [place, port] of ports.entries()) {
    const lines = topology.dataNodeConfig({ dir, place, port, tls, acl: acl ?? [], credentials });
    if (mode === 'cluster') lines.push(...(await topology.clusterConfig(dir, place, tls)));
    if (mode === 'sentinel' && place > 0) lines.push(`replicaof 127.0.0.1 ${ports[0]}`);
    nodes.push(
      new RedisNode({
        ...shared,
        name: `redis-${place}`,
        port,
        sentinel: false,
        config: [...lines, ...config],
      }),
    );
  }
  await Promise.all(nodes.map((node) => node.start()));
  if (mode === 'cluster') await topology.joinCluster(nodes);
  const sentinels: RedisNode[] = [];
  if (mode === 'sentinel') {
    // First: a Sentinel that misses the replica at its start asks again only after 10 s.
    await topology.replicasReady(nodes);
    for (const [place, port] of (await freePorts(SENTINELS)).entries()) {
      const lines = topology.sentinelConfig({
        dir,
        place,
        port,
        tls,
        primaryPort: ports[0] ?? 0,
        credentials,
        password: sentinelPassword,
      });
      const login = sentinelPassword && { username: 'default', password: sentinelPassword };
      const name = `sentinel-${place}`;
      sentinels.push(
        new RedisNode({
          ...shared,
          credentials: login || undefined,
          name,
          port,
          sentinel: true,
          config: lines,
        }),
      );
    }
    await Promise.all(sentinels.map((sentinel) => sentinel.start()));
    await topology.sentinelsReady(sentinels);
  }
  return new RedisServers({ mode, nodes, sentinels, ca, stop });
}

const NODES = { standalone: 1, sentinel: 2, cluster: 3 };
const SENTINELS = 3;

async function writeCertificates(dir: string): Promise<string> {
  const authority = await createAuthority({ commonName: 'test redis authority', ...aMonth() });
  const server = await issueLeaf(authority, { names: ['localhost', '127.0.0.1'], ...aMonth() });
  writeFileSync(join(dir, 'ca.crt'), authority.cert);
  writeFileSync(join(dir, 'redis.crt'), server.cert);
  writeFileSync(join(dir, 'redis.key'), server.key, { mode: 0o600 });
  return authority.cert;
}
