import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../results.ts';

/**
 * Runs the bench script of a package, which measures in processes of its own and which prints one JSON value.
 * What it says on stderr meanwhile goes to `report`.
 */
export async function runScript<T>(
  script: string,
  args: readonly string[],
  report: (line: string) => void,
): Promise<T> {
  const path = join(repository, script);
  if (!existsSync(path)) throw new Error(`${script} does not exist`);
  const child = spawn(process.execPath, [path, ...args], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = (): void => {
    child.kill('SIGTERM');
  };
  process.on('exit', end);
  let output = '';
  let complaints = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    output += piece;
  });
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    complaints += piece;
    for (const line of piece.split('\n').filter(Boolean)) report(line);
  });
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  process.off('exit', end);
  if (code !== 0) throw new Error(`${script} ended with ${String(code)}: ${complaints.slice(-500)}`);
  try {
    const value: T = JSON.parse(output);
    return value;
  } catch {
    throw new Error(`${script} did not print one JSON value: ${output.slice(0, 200)}`);
  }
}
