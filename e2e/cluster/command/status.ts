import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiClient } from '../api/client.ts';
import { isRunning } from '../process/identity.ts';
import { COMPONENT_NAMES } from '../control-plane/commands.ts';
import { type ClusterSummary, readRoster, readSummary } from './state.ts';

export interface ClusterStatus {
  readonly ready: boolean;
  readonly processes: Readonly<Record<string, number | null>>;
  /** null when the API server does not say. */
  readonly readyNodes: number | null;
  readonly nodes: number | null;
  readonly cluster: ClusterSummary | null;
}

/** Ready means that every component runs, the API server answers, and every node is Ready. */
export async function status(stateDir: string): Promise<ClusterStatus> {
  const roster = readRoster(stateDir);
  const cluster = readSummary(stateDir) ?? null;
  const alive = new Map(roster.processes.filter(isRunning).map(({ name, pid }) => [name, pid]));
  const expected = Object.keys(cluster?.pids ?? {}).filter((name) => name !== 'host' && name !== 'watchdog');
  const names = new Set([...COMPONENT_NAMES, ...expected, ...alive.keys()]);
  const processes = Object.fromEntries([...names].map((name) => [name, alive.get(name) ?? null]));
  const nodes = cluster && (await countNodes(stateDir, cluster.server).catch(() => null));
  return {
    ready:
      nodes !== null && nodes.ready === nodes.all && Object.values(processes).every((pid) => pid !== null),
    processes,
    readyNodes: nodes?.ready ?? null,
    nodes: nodes?.all ?? null,
    cluster,
  };
}

interface NodeStatus {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

async function countNodes(stateDir: string, server: string): Promise<{ all: number; ready: number }> {
  const read = (name: string) => readFileSync(join(stateDir, 'credentials', name), 'utf8');
  const api = new ApiClient({
    server,
    ca: read('ca.crt'),
    cert: read('admin.crt'),
    key: read('admin.key'),
    timeoutMs: 5_000,
  });
  try {
    const nodes = await api.list<NodeStatus>('Node');
    const ready = nodes.filter((node) =>
      node.status.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
    );
    return { all: nodes.length, ready: ready.length };
  } finally {
    await api.close();
  }
}
