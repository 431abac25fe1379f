import { parseArgs } from 'node:util';
import { nearest } from '@spotalis/units';
import { type Command, type Flag, flagsOf, type Invocation } from './command.ts';
import { CliError } from './error.ts';
import { program } from './usage.ts';

const spelled = ({ name, value }: Flag): string => `--${name}${value === undefined ? '' : ` ${value}`}`;

function refuse(command: Command, problem: string): never {
  const [example] = command.examples;
  const tail = example === undefined ? '' : ` Example: ${example}`;
  throw new CliError('USAGE', problem, `See ${program} ${command.name} --help.${tail}`);
}

function unknownFlag(command: Command, typed: string): never {
  const flags = flagsOf(command);
  const near = nearest(
    typed.replace(/^-+/, ''),
    flags.map(({ name }) => name),
  );
  const known = flags.map(({ name }) => `--${name}`).join(', ');
  const meant = near === null ? `Known: ${known}.` : `Did you mean --${near}?`;
  return refuse(command, `${command.name}: ${typed} is not a flag. ${meant}`);
}

/** The command line after the command's name. */
export function readArguments(command: Command, args: readonly string[]): Invocation {
  const flags = flagsOf(command);
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries(
      flags.map(({ name, short, value }) => [
        name,
        { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short && { short }) },
      ]),
    ),
  });
  const values = new Map<string, string>();
  const present = new Set<string>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const flag = flags.find(({ name }) => name === token.name);
    if (flag === undefined) unknownFlag(command, token.rawName);
    present.add(flag.name);
    const value = valueOf(command, flag, token.value);
    if (value !== undefined) values.set(flag.name, value);
  }
  if (!present.has('help')) checkPositionals(command, positionals);
  return { positionals, has: (flag) => present.has(flag), value: (flag) => values.get(flag) };
}

function valueOf(command: Command, flag: Flag, given: string | undefined): string | undefined {
  if (flag.value === undefined) {
    if (given !== undefined) refuse(command, `${command.name}: --${flag.name} takes no value`);
    return undefined;
  }
  const example = flag.choices?.join(', ') ?? flag.example;
  const forExample = example === undefined ? '' : `, for example ${example}`;
  // `-o=json` is what kubectl takes, too.
  const value = given?.replace(/^=/, '');
  if (value === undefined || value === '')
    refuse(command, `${spelled(flag)}: the value is missing${forExample}`);
  if (flag.choices !== undefined && !flag.choices.includes(value)) {
    const near = nearest(value, flag.choices);
    const meant = near === null ? '' : ` Did you mean ${near}?`;
    refuse(command, `--${flag.name} ${value}: allowed are ${flag.choices.join(', ')}.${meant}`);
  }
  return value;
}

function checkPositionals({ positionals: allowed, ...command }: Command, given: readonly string[]): void {
  const whole: Command = { positionals: allowed, ...command };
  if (given.length < allowed.least) {
    refuse(whole, `${command.name}: ${allowed.usage} is missing`);
  }
  const extra = given[allowed.most];
  if (extra !== undefined)
    refuse(whole, `${command.name}: ${JSON.stringify(extra)} is one argument too many`);
  const wrong = given.find((word) => allowed.choices !== undefined && !allowed.choices.includes(word));
  if (wrong !== undefined) {
    refuse(whole, `${command.name}: ${wrong} is not one of ${allowed.choices?.join(', ')}`);
  }
}

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly example: string;
  /** A trailing `%` says nothing more, as in the annotation. */
  readonly isShare?: boolean;
}

/** A whole number within its bounds, or a usage error that says what is allowed. */
export function wholeNumber(
  { value }: Invocation,
  flag: string,
  { least, most, example, isShare = false }: Bounds,
): number | undefined {
  const text = value(flag);
  if (text === undefined) return undefined;
  const digits = isShare ? text.replace(/%$/, '') : text;
  const number = /^\d{1,6}$/.test(digits) ? Number(digits) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new CliError(
    'USAGE',
    `--${flag} ${text}: needs a whole number from ${least} to ${most}`,
    `Example: --${flag} ${example}`,
  );
}
