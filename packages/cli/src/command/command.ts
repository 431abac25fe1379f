import type { Session } from '../cluster/session.ts';
import type { Output } from '../output/output.ts';

/** One flag, as it is parsed, completed and documented. */
export interface Flag {
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  /** What stands for its value in the usage; without it the flag is either there or not. */
  readonly value?: string;
  /** The only values allowed. */
  readonly choices?: readonly string[];
  readonly doc: string;
  readonly example?: string;
}

/** What a command line says, once it is known to make sense. */
export interface Invocation {
  readonly positionals: readonly string[];
  readonly has: (flag: string) => boolean;
  readonly value: (flag: string) => string | undefined;
}

/** What a command has to work with. */
export interface CommandContext extends Invocation {
  readonly out: Output;
  /** Opens the connection to the cluster at the first call. */
  readonly session: () => Session;
  readonly nowMs: () => number;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** One word after `kubectl spotalis`. */
export interface Command {
  readonly name: string;
  /** Half a sentence. */
  readonly summary: string;
  /** More, for its own help. */
  readonly details?: string;
  readonly positionals: {
    /** As in `deployment/NAME`; empty: none are taken. */
    readonly usage: string;
    readonly least: number;
    readonly most: number;
    /** The only words allowed. */
    readonly choices?: readonly string[];
    /** What to offer in a shell. */
    readonly complete?: 'workload' | 'workload-or-pod';
  };
  readonly flags: readonly Flag[];
  readonly examples: readonly string[];
  /** Markdown, for the documentation only. */
  readonly reference?: string;
  /** Does not ask the cluster and takes none of the flags that all others take. */
  readonly isLocal?: boolean;
  /** Goes on until Ctrl-C, which is then no interruption. */
  readonly lasts?: (given: Invocation) => boolean;
  /** Returns the exit code. */
  run(context: CommandContext): Promise<number>;
}

/** What every command that asks the cluster takes. */
const clusterFlags: readonly Flag[] = [
  { name: 'kubeconfig', value: 'FILE', doc: 'the kubeconfig; default: KUBECONFIG, then ~/.kube/config' },
  { name: 'context', value: 'NAME', doc: 'the context of the kubeconfig to use' },
  { name: 'namespace', short: 'n', value: 'NAME', doc: "the namespace; default: the context's" },
  {
    name: 'config',
    value: 'FILE',
    doc: "the services' configuration file; default: the ConfigMap of the installation",
  },
];

export const outputFlag: Flag = {
  name: 'output',
  short: 'o',
  value: 'FORMAT',
  choices: ['wide', 'json', 'yaml'],
  doc: 'wide, or json or yaml for programs',
  example: 'json',
};

/** For commands whose text for people has one form. */
export const documentFlag: Flag = {
  ...outputFlag,
  choices: ['json', 'yaml'],
  doc: 'json or yaml, for programs',
};

export const flagsOf = ({ flags, isLocal = false }: Command): readonly Flag[] => [
  ...flags,
  ...(isLocal ? [] : clusterFlags),
  { name: 'help', short: 'h', doc: 'prints this' },
];
