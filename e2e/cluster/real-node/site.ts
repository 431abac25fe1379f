import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { NodePrograms } from '../binaries/programs.ts';
import type { Supervisor } from '../process/supervisor.ts';
import { prepareToolbox } from '../process/toolbox.ts';
import { makeCgroups } from './cgroup.ts';
import { connectNode, type NodeNetwork } from './network.ts';
import { openRoom, type Room } from './room.ts';

/** Where a real node is to run: made before the control plane, which listens on the line to it. */
export interface Site {
  readonly dir: string;
  readonly cgroup: string;
  readonly cgroups: readonly string[];
  readonly room: Room;
  readonly network: NodeNetwork;
  readonly programs: NodePrograms;
}

export interface SiteParts {
  readonly supervisor: Supervisor;
  readonly stateDir: string;
  readonly cgroup: string;
  readonly cgroups: readonly string[];
  readonly programs: NodePrograms;
  readonly report: (line: string) => void;
}

export async function prepareSite({ supervisor, stateDir, report, ...parts }: SiteParts): Promise<Site> {
  const toolbox = await prepareToolbox(report);
  const dir = join(stateDir, 'real-node');
  mkdirSync(dir);
  makeCgroups(parts.cgroups);
  const room = await openRoom(supervisor, dir, toolbox);
  return { dir, room, network: await connectNode(toolbox, room.pid), ...parts };
}
