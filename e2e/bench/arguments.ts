import { parseArgs } from 'node:util';

export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'wrong'; readonly problem: string }
  | {
      readonly kind: 'run';
      readonly names: readonly string[];
      readonly quick: boolean;
      readonly jsonFile: string | undefined;
      readonly writeDocs: boolean;
    };

/** `known`: the benchmarks there are. Without a name all of them run. */
export function readCommand(args: readonly string[], known: readonly string[]): Command {
  const parsed = parse(args);
  if (typeof parsed === 'string') return { kind: 'wrong', problem: parsed };
  const { values, positionals } = parsed;
  if (values.help) return { kind: 'help' };
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    return { kind: 'wrong', problem: `there is no benchmark '${unknown}': choose from ${known.join(', ')}` };
  }
  return {
    kind: 'run',
    names: positionals.length === 0 ? known : known.filter((name) => positionals.includes(name)),
    quick: values.quick,
    jsonFile: values.json,
    writeDocs: values['write-docs'],
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        quick: { type: 'boolean', default: false },
        json: { type: 'string' },
        'write-docs': { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    // Node's text goes on about how to pass such a thing as a positional argument.
    const [problem = ''] = String(error)
      .replace(/^.*?: /, '')
      .split('. ');
    return `${problem}: the options are --quick, --json FILE, --write-docs and --help`;
  }
}
