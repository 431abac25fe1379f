import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { outcomeOf } from './outcome.mjs';

export const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];

/** How long jest may take to end after its report: longer, and a test left something running. */
const lingerMs = 30_000;

/**
 * Runs a command to its end, or until `ending` aborts; with `report`, no longer than `lingerMs` after that file was
 * written. It prints to the terminal or, with `log`, into that file. `under` is what starts it, if not this process
 * itself. Resolves with its exit code, or with what ended it.
 */
export function run(command, args, { report, log, env, ending, under = [] } = {}) {
  const [program, ...rest] = [...under, command, ...args];
  const output = log === undefined ? undefined : openSync(log, 'w');
  const say = (line) => (output === undefined ? console.log(line) : writeSync(output, `${line}\n`));
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, {
      stdio: output === undefined ? 'inherit' : ['ignore', output, output],
      signal: ending,
      env: { ...process.env, ...env },
    });
    let reportedAt;
    const linger = setInterval(() => {
      if (report === undefined || !existsSync(report)) return;
      reportedAt ??= Date.now();
      if (Date.now() - reportedAt < lingerMs) return;
      say('something that a test started still runs; ending it');
      child.kill('SIGKILL');
    }, 1_000);
    // One that is aborted says so before it ends.
    child.on('error', (error) => {
      if (error.name !== 'AbortError') reject(error);
    });
    child.on('exit', (code, signal) => {
      clearInterval(linger);
      // turbo says that all is well when it is told to end.
      resolve(ending?.aborted ? ending.reason : (code ?? `signal ${signal}`));
    });
  }).finally(() => {
    if (output !== undefined) closeSync(output);
  });
}

/** Plays what the arguments select, and resolves with what came of it. */
export async function runJest(args, { report, ...options }) {
  rmSync(report, { force: true });
  const all = [...jest, ...args, '--json', `--outputFile=${report}`];
  const code = await run('node', all, { report, ...options });
  if (!existsSync(report)) {
    const line = `jest ended with ${code} and wrote no report`;
    if (options.log === undefined) console.log(line);
    else appendFileSync(options.log, `${line}\n`);
    return { passed: 0, failed: 1, played: 0 };
  }
  const result = JSON.parse(readFileSync(report, 'utf8'));
  return { ...outcomeOf(result, code), played: result.numTotalTests - result.numPendingTests };
}
