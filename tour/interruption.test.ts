import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from '@jest/globals';

const module = new URL('interruption.ts', import.meta.url);

/** Writes for ever, and says on stderr what it took back. */
const script = `
  const { untilInterrupted } = await import(${JSON.stringify(module.href)});
  await untilInterrupted((leave) => {
    leave.later(async () => { process.stderr.write('taken back'); });
    setInterval(() => process.stdout.write('a line\\n'), 1);
    return new Promise(() => {});
  }).catch((error) => process.stderr.write(' after ' + error.constructor.name));
  process.exit();
`;

it('ends and takes everything back when whoever reads its output has gone', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  let said = '';
  child.stderr.on('data', (piece: Buffer) => {
    said += piece.toString();
  });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const [code]: unknown[] = await once(child, 'close');
  expect({ said, code }).toEqual({ said: 'taken back after Interrupted', code: 0 });
});
