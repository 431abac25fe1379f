/** The checks that need no test runner: each is one command, its output shown only when it fails. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const checks = [
  { name: 'format', command: 'biome', args: ['format', '.'] },
  { name: 'types', command: 'tsc', args: ['-b'] },
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  { name: 'arrows', command: process.execPath, args: ['scripts/arrows.mjs'] },
  { name: 'anchors', command: process.execPath, args: ['scripts/mutate.mjs', '--places'] },
  { name: 'unread settings', command: process.execPath, args: ['scripts/unread-settings.mjs'] },
  { name: 'unused code', command: 'knip', args: [] },
];

/** `ending` aborts the one that runs, and spares the rest. */
export async function runChecks({ ending } = {}) {
  let passed = 0;
  let failed = 0;
  for (const { name, command, args } of checks) {
    if (ending?.aborted) break;
    const began = Date.now();
    const running = execute(command, args, { maxBuffer: 64 * 1024 * 1024, signal: ending });
    const failure = await running.then(
      () => undefined,
      (error) => error,
    );
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    if (failure === undefined) {
      passed += 1;
      console.log(`  ok      ${name} (${seconds} s)`);
      continue;
    }
    failed += 1;
    console.log(`  FAILED  ${name} (${seconds} s): ${command} ${args.join(' ')}`);
    console.log(`${failure.stdout}${failure.stderr}` || failure.message);
  }
  return { passed, failed };
}

if (import.meta.main) {
  const { failed } = await runChecks();
  process.exitCode = failed === 0 ? 0 : 1;
}
