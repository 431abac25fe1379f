import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from './manifests.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

export function bundleOf(service: ServiceName): string {
  return join(repository, 'packages', service, 'dist', `${service}.mjs`);
}

/** What its image starts Node with, so that it is tried and measured as it runs. */
export function nodeArgsOf(service: ServiceName): readonly string[] {
  for (const [, list = ''] of dockerfile().matchAll(/^ENTRYPOINT (\[.*\])$/gm)) {
    const [, ...args]: readonly string[] = JSON.parse(list);
    if (args.at(-1)?.endsWith(`/${service}.mjs`)) return args.slice(0, -1);
  }
  throw new Error(`docker/Dockerfile has no ENTRYPOINT that ends with ${service}.mjs`);
}

/** The environment that the images give both services. */
export function nodeEnvironment(): Readonly<Record<string, string>> {
  const [, pairs = ''] = /^FROM scratch AS runtime$[^]*?^ENV (.+)$/m.exec(dockerfile()) ?? [];
  return Object.fromEntries(pairs.split(' ').map((pair) => pair.split('=', 2)));
}

const dockerfile = (): string => readFileSync(join(repository, 'docker', 'Dockerfile'), 'utf8');

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
