import { readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from './failure.ts';

const CGROUPS = '/sys/fs/cgroup/';
/** The members of a cgroup that was killed go one by one, and only then does it. */
const EMPTYING_TIMEOUT_MS = 10_000;

/** Removes a file, a directory with all in it, or a cgroup with all below it; what is not there is removed. */
export function remove(path: string): void {
  if (path.startsWith(CGROUPS)) removeCgroup(path, Date.now() + EMPTYING_TIMEOUT_MS);
  else rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}

/** Its files are the kernel's: only directories can be removed, the innermost first. */
function removeCgroup(path: string, deadlineMs: number): void {
  for (;;) {
    try {
      for (const entry of readdirSync(path, { withFileTypes: true }))
        if (entry.isDirectory()) removeCgroup(join(path, entry.name), deadlineMs);
      rmdirSync(path);
      return;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return;
      if (!hasCode(error, 'EBUSY') || Date.now() > deadlineMs) throw error;
      // Synchronous: those who remove are about to end.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
}
