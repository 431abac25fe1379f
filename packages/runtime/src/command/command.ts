import { parseArgs } from 'node:util';

/** What a service was asked to do on its command line. */
export type Command =
  | { readonly kind: 'help'; readonly usage: string }
  | {
      readonly kind: 'run' | 'print-config';
      readonly configFile: string | undefined;
      readonly kubeconfig: string | undefined;
    };

/** Thrown for a command line that cannot be meant; the message is one line for the person who typed it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code = 'COMMAND';
}

/** `purpose` says in a sentence or two what the program does. */
export function readCommand(args: readonly string[], program: string, purpose: string): Command {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        config: { type: 'string' },
        kubeconfig: { type: 'string' },
        'print-config': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return { kind: 'help', usage: usageOf(program, purpose) };
    return {
      kind: values['print-config'] ? 'print-config' : 'run',
      configFile: values.config,
      kubeconfig: values.kubeconfig,
    };
  } catch (error) {
    // Node's first sentence names the argument; the rest is advice about quoting that fits no option here.
    const [reason = 'not understood'] = (error instanceof Error ? error.message : String(error)).split(
      /\. |\n/,
    );
    throw new CommandError(`${reason}. Known: --config FILE, --kubeconfig FILE, --print-config, --help`);
  }
}

function usageOf(program: string, purpose: string): string {
  return `Usage: ${program} [--config FILE] [--kubeconfig FILE] [--print-config]

${purpose}

  --config FILE      configuration file (YAML); the environment (SPOTALIS_...) goes before it
  --kubeconfig FILE  how to reach the API server; default: KUBECONFIG, ~/.kube/config, the pod's ServiceAccount
  --print-config     prints the effective configuration and where each value came from, and exits
  --help             prints this, and exits
`;
}
