import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/** Keeps every core busy until `end()`. */
export function stressCores() {
  const spinners = Array.from({ length: availableParallelism() }, () =>
    // They end with their parent, whatever ends it.
    spawn(process.execPath, ['-e', `const { ppid } = process; while (process.ppid === ppid);`], {
      stdio: 'ignore',
    }),
  );
  return {
    end: () =>
      Promise.all(
        spinners.map((spinner) => {
          const gone = once(spinner, 'exit');
          spinner.kill('SIGKILL');
          return gone;
        }),
      ),
  };
}

/** Microseconds of each tenth of a second: a third of one CPU for all that runs in it together. */
const periodUs = 100_000;
const quotaUs = Math.round(periodUs / 3);

/** A control group with a third of a CPU; or why there can be none. `command` begins the command lines that run in it. */
export function starve() {
  const root = '/sys/fs/cgroup';
  const name = `spotalis-starved-${process.pid}`;
  const unified = existsSync(join(root, 'cgroup.controllers'));
  const path = unified ? join(root, name) : join(root, 'cpu', name);
  try {
    mkdirSync(path);
    if (unified) {
      writeFileSync(join(path, 'cpu.max'), `${quotaUs} ${periodUs}`);
    } else {
      writeFileSync(join(path, 'cpu.cfs_period_us'), String(periodUs));
      writeFileSync(join(path, 'cpu.cfs_quota_us'), String(quotaUs));
    }
  } catch (error) {
    return { missing: `a third of a CPU takes root on Linux with control groups: ${error.message}` };
  }
  return {
    command: ['sh', '-c', `echo $$ > '${join(path, 'cgroup.procs')}' && exec "$@"`, 'sh'],
    end: async () => {
      // Those that were just killed leave it a moment later.
      while (readFileSync(join(path, 'cgroup.procs'), 'utf8') !== '')
        await new Promise((resolve) => setImmediate(resolve));
      rmdirSync(path);
    },
  };
}
