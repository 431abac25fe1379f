import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Testbed } from '../testbed/testbed.ts';

const script = fileURLToPath(new URL('../../packages/cli/dist/kubectl-spotalis.mjs', import.meta.url));

export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `kubectl spotalis`, as a person with all rights would run it, told where the configuration is. */
export function spotalis(testbed: Testbed, ...args: readonly string[]): Promise<Answer> {
  const { kubeconfig, stateDir } = testbed.cluster;
  return spotalisIn(kubeconfig, ...args, '--config', join(stateDir, 'spotalis.yaml'));
}

/** The same, where the configuration is in the cluster. */
export function spotalisIn(kubeconfig: string, ...args: readonly string[]): Promise<Answer> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [script, ...args, '--kubeconfig', kubeconfig],
      { maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : -1;
        resolve({ code, stdout, stderr });
      },
    );
  });
}
