import { readFileSync } from 'node:fs';

/** Field 22 of /proc/PID/stat (clock ticks since boot); with the pid it names one process for good. */
export function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in field 2 may hold spaces and parentheses: count from its last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[19] ?? null;
  } catch {
    return null;
  }
}

export function isRunning({ pid, startTime }: { pid: number; startTime: string | null }): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return startTime === null || startTimeOf(pid) === startTime;
}
