import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isRunning } from './process/identity.ts';
import { portIsFree } from './process/ports.ts';
import { waitFor } from './process/wait.ts';
import type { Roster } from './process/watchdog-messages.ts';

interface Traces {
  readonly stateDir: string;
  readonly pids: Readonly<Record<string, number>>;
  readonly ports: Readonly<Record<string, number>>;
}

const HOLDER = fileURLToPath(new URL('./testing/holder.ts', import.meta.url));
const COMMAND = fileURLToPath(new URL('./main.ts', import.meta.url));

/** What is left of a cluster, by name: nothing, it should be. */
async function leftOf({ stateDir, pids, ports }: Traces): Promise<string[]> {
  const left = Object.entries(pids)
    .filter(([, pid]) => isRunning({ pid, startTime: null }))
    .map(([name, pid]) => `${name} (pid ${pid})`);
  for (const [name, port] of Object.entries(ports))
    if (!(await portIsFree(port))) left.push(`port of ${name}`);
  if (existsSync(stateDir)) left.push(stateDir);
  return left;
}

const nothingLeft = async (traces: Traces) => {
  await waitFor('nothing to be left', () => leftOf(traces), {
    timeoutMs: 10_000,
    until: (left) => left.length === 0,
  });
  return leftOf(traces);
};

describe('a cluster and a redis leave nothing behind', () => {
  let holder: ChildProcess;
  const hold = async (how: string): Promise<Traces> => {
    // In a process group of its own, like a command in a terminal.
    holder = spawn(process.execPath, [HOLDER, how], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (holder.stdout === null) throw new Error('the holder has no output');
    const [line] = await once(createInterface({ input: holder.stdout }), 'line');
    return JSON.parse(line);
  };
  afterEach(() => {
    holder.kill('SIGKILL');
  });

  it('when they are stopped', async () => {
    const traces = await hold('stop');
    await once(holder, 'exit');
    expect(await leftOf(traces)).toEqual([]);
  }, 60_000);

  it('when their process is killed', async () => {
    const traces = await hold('stay');
    expect(await leftOf(traces)).toHaveLength(15);
    holder.kill('SIGKILL');
    expect(await nothingLeft(traces)).toEqual([]);
  }, 60_000);

  it('after Ctrl-C, which reaches the whole foreground group', async () => {
    const traces = await hold('stay');
    process.kill(-(holder.pid ?? 0), 'SIGINT');
    expect(await nothingLeft(traces)).toEqual([]);
  }, 60_000);

  it('when their watchdog is killed and their process then ends', async () => {
    const traces = await hold('stay');
    process.kill(traces.pids['watchdog'] ?? 0, 'SIGKILL');
    await waitFor('the cluster to be gone', () => !existsSync(traces.stateDir));
    holder.kill('SIGKILL');
    expect(await nothingLeft(traces)).toEqual([]);
  }, 60_000);
});

describe('the cluster command', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'command-'));
  });
  afterEach(async () => {
    await cluster('down').catch(() => undefined);
    rmSync(dir, { recursive: true });
  });
  const state = () => join(dir, 'state');
  const cluster = async (command: string, ...args: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      COMMAND,
      command,
      '--state',
      state(),
      '--json',
      ...args,
    ]);
    return JSON.parse(stdout);
  };

  it('brings a cluster up that outlives it, tells how it is, and takes it down', async () => {
    const summary = await cluster(
      'up',
      '--spot-nodes',
      '2',
      '--on-demand-nodes',
      '1',
      '--redis',
      'real',
      '--audit',
    );
    expect(readFileSync(summary.kubeconfig, 'utf8')).toContain(summary.server);
    expect(existsSync(summary.auditLog)).toBe(true);
    expect(summary.redis).toBe(`redis://127.0.0.1:${summary.ports.redis}`);
    expect(await cluster('status')).toMatchObject({ ready: true, nodes: 3, readyNodes: 3, cluster: summary });
    await expect(cluster('up')).rejects.toThrow('holds a cluster already: take it down first');

    process.kill(summary.pids['kube-scheduler'], 'SIGKILL');
    await expect(cluster('status')).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"kube-scheduler":null'),
    });

    await cluster('down');
    expect(await leftOf({ ...summary, stateDir: state() })).toEqual([]);
    await expect(cluster('status')).rejects.toThrow(`there is no cluster in ${state()}`);
  }, 60_000);

  it('takes down what is left when host and watchdog have been killed', async () => {
    const summary = await cluster('up', '--spot-nodes', '1', '--on-demand-nodes', '0');
    const roster: Roster = JSON.parse(readFileSync(join(state(), 'processes.json'), 'utf8'));
    process.kill(summary.pids.host, 'SIGSTOP');
    process.kill(roster.watchdog.pid, 'SIGKILL');
    process.kill(summary.pids.host, 'SIGKILL');
    await cluster('down');
    expect(await leftOf({ ...summary, stateDir: state() })).toEqual([]);
    expect(roster.removals.filter(existsSync)).toEqual([]);
  }, 60_000);
});
