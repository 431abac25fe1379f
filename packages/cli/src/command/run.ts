import { nearest } from '@spotalis/units';
import { asError, KubeError } from '@spotalis/kube';
import { candidates } from '../completion/candidates.ts';
import { openSession, type Session } from '../cluster/session.ts';
import type { Output } from '../output/output.ts';
import { version } from '../version.ts';
import { readArguments } from './arguments.ts';
import type { Command, Invocation } from './command.ts';
import { CliError, exitCodes } from './error.ts';
import { commandUsage, program, programUsage } from './usage.ts';

const userAgent = `kubectl-spotalis/${version.replaceAll(' ', '-')}`;

export interface Program {
  readonly commands: readonly Command[];
  readonly out: Output;
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
}

/** Does what the command line says and returns the exit code. Never throws. */
export async function runProgram(args: readonly string[], parts: Program): Promise<number> {
  const { out, commands } = parts;
  try {
    const [name, ...rest] = args;
    if (name === undefined || ['help', '--help', '-h'].includes(name)) {
      out.write(programUsage(commands).trimEnd());
      return name === undefined ? exitCodes.usage.code : exitCodes.done.code;
    }
    if (name === '__complete') return await complete(rest, parts);
    return await runCommand(commandNamed(name, commands), rest, parts);
  } catch (thrown) {
    return report(thrown, parts);
  }
}

/** What the scripts of `completion` ask. */
async function complete(words: readonly string[], { out, commands }: Program): Promise<number> {
  const found = await candidates(words, commands, (given) =>
    openSession(
      { positionals: [], has: (flag) => given.has(flag), value: (flag) => given.get(flag) },
      userAgent,
    ),
  );
  if (found.length > 0) out.write(found.join('\n'));
  return exitCodes.done.code;
}

function commandNamed(name: string, commands: readonly Command[]): Command {
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found;
  const names = commands.map((command) => command.name);
  const near = nearest(name, names);
  const meant = near === null ? `Known: ${names.join(', ')}.` : `Did you mean ${near}?`;
  const what = name.startsWith('-') ? 'the command comes before its flags' : `${name} is not a command`;
  throw new CliError('USAGE', `${what}. ${meant}`, `Example: ${program} status -A`);
}

async function runCommand(command: Command, args: readonly string[], parts: Program): Promise<number> {
  const { out, nowMs, signal } = parts;
  const invocation = readArguments(command, args);
  if (invocation.has('help')) {
    out.write(commandUsage(command).trimEnd());
    return exitCodes.done.code;
  }
  let opened: Session | undefined;
  try {
    const code = await command.run({
      ...invocation,
      out,
      nowMs,
      signal,
      session: () => (opened ??= openSession(invocation, userAgent)),
    });
    // Also of one that came to its end all the same: nothing that was to follow it is wanted any more.
    return signal.aborted ? whenStopped(command, invocation) : code;
  } catch (thrown) {
    if (signal.aborted) return whenStopped(command, invocation);
    throw thrown;
  } finally {
    await opened?.close();
  }
}

const whenStopped = ({ lasts }: Command, given: Invocation): number =>
  lasts?.(given) === true ? exitCodes.done.code : exitCodes.interrupted.code;

function report(thrown: unknown, { out, signal }: Program): number {
  if (signal.aborted) return exitCodes.interrupted.code;
  const error = asError(thrown);
  out.note(`error: ${error.message}`);
  if (thrown instanceof CliError) {
    if (thrown.hint !== undefined) out.note(thrown.hint);
    return thrown.exitCode;
  }
  if (thrown instanceof KubeError && thrown.retryable) out.note('Trying again may help.');
  return exitCodes.failed.code;
}
