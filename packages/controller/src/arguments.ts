import { parseArgs } from 'node:util';

export const usage = `Usage: controller [options]

Keeps the ledger true to the pods there are, and reports each workload's split. Runs in two or more
replicas: all observe, one leads.

  --config <file>       configuration in YAML; environment variables SPOTALIS_* go before it
  --kubeconfig <file>   the API server and who we are there; default: KUBECONFIG, ~/.kube/config, the pod's own
  --print-config        shows the values in force and where each comes from, and exits
  --help                shows this, and exits
`;

export interface Arguments {
  readonly config: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly printConfig: boolean;
  readonly help: boolean;
}

/** Thrown for a command line that cannot be meant; the message is one line for the person who typed it. */
export class ArgumentsError extends Error {
  override readonly name = 'ArgumentsError';
  readonly code = 'ARGUMENTS';
}

export function readArguments(args: readonly string[]): Arguments {
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
    return {
      config: values.config,
      kubeconfig: values.kubeconfig,
      printConfig: values['print-config'],
      help: values.help,
    };
  } catch (error) {
    // Node's first sentence names the argument; the rest is advice about quoting that fits no option here.
    const [reason = 'not understood'] = (error instanceof Error ? error.message : String(error)).split(
      /\. |\n/,
    );
    throw new ArgumentsError(`${reason}. Options: --config, --kubeconfig, --print-config, --help`);
  }
}
