import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from './failure.ts';
import { isRunning, startTimeOf } from './identity.ts';
import { waitFor } from './wait.ts';

interface Holder {
  readonly pid: number;
  readonly startTime: string | null;
}

/** Runs `work` while no other process on this machine holds the same file; a holder that died holds nothing. */
export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  waiting: (holderPid: number) => void,
  timeoutMs: number,
): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  let told = false;
  await waitFor(
    `the lock ${file}`,
    () => {
      const holder = acquire(file);
      if (holder === 'acquired') return true;
      if (!told) waiting(holder.pid);
      told = true;
      return false;
    },
    { timeoutMs, intervalMs: 200 },
  );
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function acquire(file: string): Holder | 'acquired' {
  // A link appears with its content: nobody ever reads a lock that is half written.
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, JSON.stringify({ pid: process.pid, startTime: startTimeOf(process.pid) }));
  try {
    linkSync(mine, file);
    return 'acquired';
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(mine, { force: true });
  }
  const holder = readHolder(file);
  if (holder && isRunning(holder)) return holder;
  rmSync(file, { force: true });
  return holder ?? { pid: 0, startTime: null };
}

function readHolder(file: string): Holder | undefined {
  try {
    const holder: Holder = JSON.parse(readFileSync(file, 'utf8'));
    return holder;
  } catch {
    return undefined;
  }
}
