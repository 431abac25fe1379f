#!/usr/bin/env node
import { runProgram } from './command/run.ts';
import { commands } from './commands.ts';
import { styleFor } from '@spotalis/units';

const { stdout, stderr, env, argv } = process;
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
// A reader that has seen enough, such as head, is no fault.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await runProgram(argv.slice(2), {
  commands,
  out: {
    style: styleFor(stdout.isTTY, env),
    width: stdout.isTTY ? stdout.columns : undefined,
    write: (text) => void stdout.write(`${text}\n`),
    note: (text) => void stderr.write(`${text}\n`),
  },
  nowMs: () => Date.now(),
  signal: stop.signal,
});
