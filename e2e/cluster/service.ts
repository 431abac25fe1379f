import { join } from 'node:path';
import { Component } from './process/component.ts';
import type { Supervisor } from './process/supervisor.ts';

export interface ServiceOptions {
  /** Also the name of its log, and of `killComponent` and the like. */
  readonly name: string;
  /** For Node itself. */
  readonly nodeArgs?: readonly string[];
  /** A file that this Node runs: a bundle, or TypeScript. Or `program`. */
  readonly script?: string;
  /** One that runs by itself. */
  readonly program?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Set as KUBECONFIG; `cluster.kubeconfigFor(...)` makes one for a ServiceAccount. */
  readonly kubeconfig?: string;
  /** Whether it serves; asked until it says so. Without it a service counts as ready once it runs. */
  readonly ready?: () => Promise<boolean>;
  readonly readyTimeoutMs?: number;
}

/** A service of ours as it runs in production, in a process of its own; not started yet. */
export function defineService(supervisor: Supervisor, logDir: string, options: ServiceOptions): Component {
  const {
    name,
    nodeArgs = [],
    script,
    program = process.execPath,
    args = [],
    env = {},
    kubeconfig,
    ready = () => Promise.resolve(true),
    readyTimeoutMs,
  } = options;
  return new Component({
    supervisor,
    command: {
      name,
      command: program,
      args: [...nodeArgs, ...(script === undefined ? [] : [script]), ...args],
      env: { ...env, ...(kubeconfig && { KUBECONFIG: kubeconfig }) },
      logFile: join(logDir, `${name}.log`),
    },
    ready,
    ...(readyTimeoutMs !== undefined && { readyTimeoutMs }),
  });
}
