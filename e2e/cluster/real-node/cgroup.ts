import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';

/** One per hierarchy where there are several (version 1), the only one where there is one (version 2). */
export function cgroupPaths(name: string): string[] {
  if (existsSync(join(ROOT, 'cgroup.controllers'))) return [join(ROOT, name)];
  return readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(ROOT, entry.name, 'cgroup.procs')))
    .map((entry) => join(ROOT, entry.name, name));
}

export function makeCgroups(paths: readonly string[]): void {
  for (const path of paths) mkdirSync(path, { recursive: true });
}
