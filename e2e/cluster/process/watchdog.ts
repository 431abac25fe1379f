/**
 * The one child of whoever starts a cluster, and the parent of everything in it. It leads its own process
 * group, so Ctrl-C does not reach it; it learns that its parent is gone, however that came about, from the
 * end of the channel between them, and then kills what it started and removes what it was told to.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, closeSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startTimeOf } from './identity.ts';
import type { Report, Request, Roster } from './watchdog-messages.ts';
import { remove } from './removal.ts';

const [stateDir = '.', ...removals] = process.argv.slice(2);
const children = new Map<string, ChildProcess>();
let closing = false;

process.on('message', (request: Request) => {
  if (closing) return;
  if (request.operation === 'stop') void shutDown();
  else start(request);
});
process.on('disconnect', () => void shutDown());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void shutDown());
report({ event: 'ready' });
writeRoster();

function start({
  id,
  name,
  command,
  args,
  env,
  cwd,
  logFile,
}: Extract<Request, { operation: 'spawn' }>): void {
  mkdirSync(dirname(logFile), { recursive: true });
  const log = openSync(logFile, 'a');
  const child = spawn(command, args, { env, cwd, stdio: ['ignore', log, log] });
  closeSync(log);
  child.once('error', (error) => report({ event: 'failed', id, message: error.message }));
  const { pid } = child;
  if (pid === undefined) return;
  children.set(name, child);
  child.once('exit', (code, signal) => {
    if (children.get(name) === child) children.delete(name);
    report({ event: 'exited', pid, code, signal });
    if (!closing) writeRoster();
  });
  writeRoster();
  report({ event: 'started', id, pid });
}

async function shutDown(): Promise<void> {
  if (closing) return;
  closing = true;
  const exits = [...children.values()].map((child) => new Promise((done) => child.once('exit', done)));
  for (const child of children.values()) child.kill('SIGKILL');
  await Promise.all(exits);
  for (const path of removals) remove(path);
  // The whole group: also what our children started themselves. This process goes with it.
  process.kill(-process.pid, 'SIGKILL');
}

/** Who runs, for another process that has to take this cluster down after all of us have been killed. */
function writeRoster(): void {
  const processes = [...children].map(([name, { pid = 0 }]) => ({ name, pid, startTime: startTimeOf(pid) }));
  const roster: Roster = {
    watchdog: { pid: process.pid, startTime: startTimeOf(process.pid) },
    processes,
    removals,
  };
  const file = join(stateDir, 'processes.json');
  writeFileSync(`${file}.new`, `${JSON.stringify(roster, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

function report(message: Report): void {
  if (process.connected) process.send?.(message, () => undefined);
}
