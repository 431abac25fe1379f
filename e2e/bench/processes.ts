import { readFileSync } from 'node:fs';

/** Linux counts the CPU time of a process in hundredths of a second, whatever the kernel's own tick. */
const msPerTick = 10;

/** CPU time of the process so far, user and system, in ms. undefined where there is no /proc, or no process. */
export function cpuMs(pid: number): number | undefined {
  const text = readProc(pid, 'stat');
  // The second field, the name in parentheses, may hold anything; after it come the state and 11 more.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return undefined;
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}

/** Memory that the process holds, in MiB. */
export const rssMiB = (pid: number): number | undefined => statusMiB(pid, 'VmRSS');

/** What of it are pages of files, of its program first of all: all processes of one program share them. */
export const filesMiB = (pid: number): number | undefined => statusMiB(pid, 'RssFile');

function statusMiB(pid: number, field: 'VmRSS' | 'RssFile'): number | undefined {
  const text = readProc(pid, 'status');
  const kib = text === undefined ? undefined : new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** undefined as soon as one of the processes cannot be asked. */
export function total(pids: readonly number[], ask: (pid: number) => number | undefined): number | undefined {
  let sum = 0;
  for (const pid of pids) {
    const value = ask(pid);
    if (value === undefined) return undefined;
    sum += value;
  }
  return sum;
}
