import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode, reasonOf } from '../process/failure.ts';
import type { Roster } from '../process/watchdog-messages.ts';

/** What `up` tells, and leaves in the state directory as cluster.json. */
export interface ClusterSummary {
  readonly state: string;
  readonly kubeconfig: string;
  readonly server: string;
  readonly redis: string | null;
  readonly auditLog: string | null;
  readonly logs: string;
  readonly ports: Readonly<Record<string, number>>;
  readonly pids: Readonly<Record<string, number>>;
  readonly secondsToReady: number;
}

export const summaryFile = (stateDir: string) => join(stateDir, 'cluster.json');
const rosterFile = (stateDir: string) => join(stateDir, 'processes.json');

class NoSuchCluster extends Error {
  readonly code = 'NO_SUCH_CLUSTER';
}

export function readRoster(stateDir: string): Roster {
  const roster: Roster | undefined = readJson(rosterFile(stateDir));
  if (roster === undefined) throw new NoSuchCluster(`there is no cluster in ${stateDir}`);
  return roster;
}

/** undefined while the cluster is still starting, and for one that a test started. */
export function readSummary(stateDir: string): ClusterSummary | undefined {
  return readJson(summaryFile(stateDir));
}

// oxlint-disable-next-line typescript/no-explicit-any -- what JSON.parse gives; each caller names the type
function readJson(file: string): any {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return undefined;
    const reason = reasonOf(error);
    throw new NoSuchCluster(`${file} is not what a cluster leaves there: ${reason}`, { cause: error });
  }
}
