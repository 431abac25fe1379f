import { ApiClient, Credentials, Transport } from '@spotalis/kube';
import type { Invocation } from '../command/command.ts';

/** A connection to the cluster that the command line names. */
export interface Session {
  readonly client: ApiClient;
  /** Of the command line, else of the context. */
  readonly namespace: string;
  /** Of the services, where it was named. */
  readonly configFile: string | undefined;
  close(): Promise<void>;
}

/** Throws a ConfigurationError of the kube package that says which file or context is wrong. */
export function openSession({ value }: Invocation, userAgent: string): Session {
  const path = value('kubeconfig');
  const context = value('context');
  const credentials = new Credentials({
    ...(path !== undefined && { path }),
    ...(context !== undefined && { context }),
  });
  const transport = new Transport({ credentials, userAgent });
  return {
    client: new ApiClient(transport),
    namespace: value('namespace') ?? credentials.namespace ?? 'default',
    configFile: value('config'),
    close: () => transport.close(),
  };
}
