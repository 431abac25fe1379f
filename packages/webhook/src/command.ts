import { parseArgs } from 'node:util';

export const usage = `Usage: spotalis-webhook [--config FILE] [--kubeconfig FILE] [--print-config]

Decides at admission whether a pod runs on spot or on on-demand capacity.

  --config FILE      configuration file (YAML); the environment (SPOTALIS_...) goes before it
  --kubeconfig FILE  how to reach the API server; default: KUBECONFIG, ~/.kube/config, the pod's ServiceAccount
  --print-config     prints the effective configuration and where each value came from, and exits
  --help             prints this, and exits
`;

/** Thrown for an unknown or incomplete option. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code = 'COMMAND';
}

export type Command =
  | { readonly kind: 'help' }
  | {
      readonly kind: 'run' | 'print-config';
      readonly configFile: string | undefined;
      readonly kubeconfig: string | undefined;
    };

export function readCommand(args: readonly string[]): Command {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        config: { type: 'string' },
        kubeconfig: { type: 'string' },
        'print-config': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) return { kind: 'help' };
    return {
      kind: values['print-config'] === true ? 'print-config' : 'run',
      configFile: values.config,
      kubeconfig: values.kubeconfig,
    };
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('. ');
    throw new CommandError(`${line}. Known: --config FILE, --kubeconfig FILE, --print-config, --help`);
  }
}
