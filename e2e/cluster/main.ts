import { readArguments, USAGE } from './command/arguments.ts';
import { down } from './command/down.ts';
import { renderStatus, renderSummary } from './command/render.ts';
import { status } from './command/status.ts';
import { up } from './command/up.ts';
import { announce } from './process/announce.ts';
import { reasonOf } from './process/failure.ts';

/** Returns the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const invocation = readArguments(args);
  if (invocation.command === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  const print = (result: object, text: string) =>
    process.stdout.write(invocation.json ? `${JSON.stringify(result)}\n` : text);
  if (invocation.command === 'up') {
    const summary = await up(invocation.plan, announce);
    print(summary, renderSummary(summary));
    return 0;
  }
  const { stateDir } = invocation;
  if (invocation.command === 'status') {
    const found = await status(stateDir);
    print(found, renderStatus(found));
    return found.ready ? 0 : 1;
  }
  await down(stateDir);
  print({ state: stateDir }, `the cluster in ${stateDir} is gone\n`);
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  announce(`cluster: ${reasonOf(error)}`);
  process.exitCode = 1;
}
