import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from './manifests.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

export function bundleOf(service: ServiceName): string {
  return join(repository, 'packages', service, 'dist', `${service}.mjs`);
}

/** Makes the services' bundles where their sources have changed since. */
export function bundleServices(): Promise<void> {
  const args = ['run', 'bundle', '--output-logs=errors-only', '--no-update-notifier'];
  return new Promise((resolve, reject) => {
    execFile('turbo', args, { cwd: repository }, (error, stdout, stderr) => {
      if (error)
        reject(new Error(`the services could not be bundled:\n${stdout}${stderr}`, { cause: error }));
      else resolve();
    });
  });
}
