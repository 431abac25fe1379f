import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Supervisor } from '../process/supervisor.ts';
import type { Toolbox } from '../process/toolbox.ts';
import { waitFor } from '../process/wait.ts';

/**
 * Namespaces of mounts, processes and network for a node: whatever containerd, runc and kube-proxy do to them,
 * mounts, bridges, rules and containers, is gone when the room's first process is.
 */
export interface Room {
  /** Of the first process in it, as this machine counts. */
  readonly pid: number;
  /** The same program, run in the room. It ends when whoever runs it here ends. */
  readonly inside: (command: Command) => Command;
}

/** A shell that waits reaps whatever ends below it: the room's first process inherits every orphan. */
const STAY = 'sleep 2147483647 & wait';

export async function openRoom(supervisor: Supervisor, dir: string, toolbox: Toolbox): Promise<Room> {
  const holder = await supervisor.spawn({
    name: 'real-node',
    command: 'unshare',
    args: [
      '--mount',
      '--net',
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      'sh',
      '-ec',
      [...furnish(dir, toolbox), `touch '${join(dir, 'open')}'`, STAY].join('\n'),
    ],
    logFile: join(dir, 'room.log'),
  });
  await waitFor(
    'the room of the real node',
    () => {
      if (holder.exit !== null) throw new Error(readFileSync(join(dir, 'room.log'), 'utf8'));
      return readFileSync(join(dir, 'open'), 'utf8') === '';
    },
    { timeoutMs: 10_000, intervalMs: 20 },
  );
  const children = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8');
  const pid = Number(children.trim().split(' ')[0]);
  return {
    pid,
    inside: (command) => ({
      ...command,
      command: 'nsenter',
      args: [
        '-t',
        String(pid),
        '-m',
        '-n',
        '-p',
        '--',
        'setpriv',
        '--pdeathsig',
        'KILL',
        command.command,
        ...command.args,
      ],
    }),
  };
}

/**
 * What the kubelet wants the kernel to be set to. It reads the files, finds what it wants, and leaves the settings
 * of the machine alone.
 */
const WANTED_BY_KUBELET = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
};

/** Places that the programs expect by fixed names, each of them the room's own. */
const PLACES = { run: '/run', lib: '/var/lib', log: '/var/log' };

function furnish(dir: string, toolbox: Toolbox): string[] {
  const commands = [toolbox.mountCommand];
  for (const [name, place] of Object.entries(PLACES)) {
    mkdirSync(join(dir, name), { recursive: true });
    commands.push(`mount --bind '${join(dir, name)}' ${place}`);
  }
  const settings = join(dir, 'settings');
  mkdirSync(settings);
  for (const [name, value] of Object.entries(WANTED_BY_KUBELET)) {
    const file = join(settings, name.replaceAll('/', '.'));
    writeFileSync(file, `${value}\n`);
    commands.push(`mount --bind '${file}' /proc/sys/${name}`);
  }
  return commands;
}
