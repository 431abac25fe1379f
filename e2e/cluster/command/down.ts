import { isRunning } from '../process/identity.ts';
import { waitFor } from '../process/wait.ts';
import { readRoster, readSummary } from './state.ts';
import { remove } from '../process/removal.ts';

const END_TIMEOUT_MS = 30_000;

/** Ends the cluster of that directory, whoever started it and whatever is left of it, and removes its files. */
export async function down(stateDir: string): Promise<void> {
  const { watchdog, processes, removals } = readRoster(stateDir);
  const host = readSummary(stateDir)?.pids['host'];
  // The watchdog ends all others and removes the files; the host sees it go.
  if (isRunning(watchdog)) process.kill(watchdog.pid, 'SIGTERM');
  await waitFor('the watchdog to end', () => !isRunning(watchdog), { timeoutMs: END_TIMEOUT_MS });
  // Unless somebody has killed it, in which case its work is left to do.
  for (const each of processes) if (isRunning(each)) process.kill(each.pid, 'SIGKILL');
  await waitFor('every process to end', () => !processes.some(isRunning), { timeoutMs: END_TIMEOUT_MS });
  for (const path of removals) remove(path);
  if (host !== undefined)
    await waitFor('the host to end', () => !isRunning({ pid: host, startTime: null }), {
      timeoutMs: END_TIMEOUT_MS,
    });
}
