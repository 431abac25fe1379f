import { inColumns } from '@spotalis/units';
import type { Command, Flag } from './command.ts';
import { flagsOf } from './command.ts';
import { exitCodes } from './error.ts';

export const program = 'kubectl spotalis';

function spelled({ name, short, value }: Flag): string {
  const letter = short === undefined ? '    ' : `-${short}, `;
  return `${letter}--${name}${value === undefined ? '' : ` ${value}`}`;
}

const synopsis = ({ name, positionals }: Command): string =>
  [program, name, positionals.usage, '[flags]'].filter((part) => part !== '').join(' ');

/** The help of one command. */
export function commandUsage(command: Command): string {
  return [
    `Usage: ${synopsis(command)}`,
    '',
    `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`,
    ...(command.details === undefined ? [] : ['', command.details]),
    '',
    'Flags:',
    ...inColumns(flagsOf(command).map((flag) => [spelled(flag), flag.doc])).map((line) => `  ${line}`),
    '',
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
    '',
  ].join('\n');
}

/** What the program does, without a command. */
export function programUsage(commands: readonly Command[]): string {
  return [
    `Usage: ${program} COMMAND [flags]`,
    '',
    'Asks where pods are, why, and what a change would do. Reads the cluster itself: the services may be down.',
    '',
    'Commands:',
    ...inColumns(commands.map(({ name, summary }) => [name, summary])).map((line) => `  ${line}`),
    '',
    `Exit codes: ${Object.values(exitCodes)
      .map(({ code, meaning }) => `${code} ${meaning}`)
      .join('; ')}.`,
    `More on each: ${program} COMMAND --help`,
    '',
  ].join('\n');
}

/** docs/cli.md: what the definitions of the commands say. */
export function cliReference(commands: readonly Command[]): string {
  const sections = commands.map((command) =>
    [
      `## ${command.name}`,
      '',
      `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`,
      ...(command.details === undefined ? [] : ['', command.details]),
      '',
      '```sh',
      ...command.examples,
      '```',
      '',
      '| Flag | What it says |',
      '|---|---|',
      ...flagsOf(command).map(
        ({ name, short, value, doc }) =>
          `| ${short === undefined ? '' : `\`-${short}\`, `}\`--${name}${value === undefined ? '' : ` ${value}`}\` | ${doc} |`,
      ),
      ...(command.reference === undefined ? [] : ['', command.reference]),
    ].join('\n'),
  );
  return [
    '# kubectl spotalis',
    '',
    '<!-- Written by scripts/generate-docs.mjs from the definitions of the commands in packages/cli. -->',
    '',
    'Asks where pods are, why, and what a change would do. It reads the cluster with the rules that the services go by,',
    'needs no Redis, and works while the services are down.',
    '',
    'It is one file that needs Node 20.19 or newer on the PATH. `npm start` makes it on the way; or, in this repository:',
    '',
    '    npm run check                                    # brings the workspace',
    '    (cd packages/cli && node ../../scripts/bundle.mjs)',
    '    ln -s "$PWD/packages/cli/dist/kubectl-spotalis.mjs" /usr/local/bin/kubectl-spotalis',
    '',
    'What is called `kubectl-spotalis` on the PATH kubectl finds by itself. For other machines copy the file under that name, or',
    'have `node scripts/krew.mjs --base-uri https://registry.example/v1` make an archive of it and the manifest for a krew index.',
    '',
    'Tables are for people; their columns stay as they are, and colour is for terminals only (never with `NO_COLOR`).',
    '`-o json` and `-o yaml` are for programs. What could not be read is said on stderr, or under `notes`.',
    '',
    '| Exit code | Meaning |',
    '|---|---|',
    ...Object.values(exitCodes).map(({ code, meaning }) => `| ${code} | ${meaning} |`),
    '',
    ...sections.join('\n\n').split('\n'),
    '',
  ].join('\n');
}
