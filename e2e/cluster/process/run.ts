import { execFile } from 'node:child_process';

interface Output {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a short program to its end; one that fails, or is not there, is an answer and not an exception. */
export function run(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
): Promise<Output> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, cwd, maxBuffer: 64 * 1024 * 1024 };
    execFile(command, [...args], options, (error, stdout, stderr) => {
      resolve({ ok: error === null, stdout, stderr: stderr || (error?.message ?? '') });
    });
  });
}
