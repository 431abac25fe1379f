/** The checks that need no test runner: each is one command, its output shown only when it fails. */
import { spawnSync } from 'node:child_process';

const checks = [
  { name: 'format', command: 'biome', args: ['format', '.'] },
  { name: 'types', command: 'tsc', args: ['-b'] },
  // Lint holds the arrows between the packages, too: see no-restricted-imports in .oxlintrc.json.
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  { name: 'unused code', command: 'knip', args: [] },
];

export function runChecks() {
  let failed = 0;
  for (const { name, command, args } of checks) {
    const began = Date.now();
    const done = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    if (done.status === 0) {
      console.log(`  ok      ${name} (${seconds} s)`);
      continue;
    }
    failed += 1;
    console.log(`  FAILED  ${name} (${seconds} s): ${command} ${args.join(' ')}`);
    console.log(`${done.stdout ?? ''}${done.stderr ?? ''}${done.error ? done.error.message : ''}`);
  }
  return { passed: checks.length - failed, failed };
}
