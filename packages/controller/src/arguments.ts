import { parseArgs } from 'node:util';

export const usage = `Usage: spotalis-controller [--config FILE] [--kubeconfig FILE] [--print-config]

Keeps the ledger true to the pods there are, and reports how each workload is split. Of several replicas
all observe and one leads.

  --config FILE      configuration file (YAML); the environment (SPOTALIS_...) goes before it
  --kubeconfig FILE  how to reach the API server; default: KUBECONFIG, ~/.kube/config, the pod's ServiceAccount
  --print-config     prints the effective configuration and where each value came from, and exits
  --help             prints this, and exits
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
    throw new ArgumentsError(`${reason}. Known: --config FILE, --kubeconfig FILE, --print-config, --help`);
  }
}
