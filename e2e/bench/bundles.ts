import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { repository } from './results.ts';

/** What is measured is what ships: the services as bundles of the sources as they are now. */
export function bundleServices(): void {
  const turbo = join(repository, 'node_modules', '.bin', 'turbo');
  const args = ['run', 'bundle', '--output-logs=errors-only', '--no-update-notifier'];
  const done = spawnSync(turbo, args, { cwd: repository, encoding: 'utf8' });
  if (done.status !== 0)
    throw new Error(`the services could not be bundled:\n${done.stdout}${done.stderr}${done.error ?? ''}`);
}
