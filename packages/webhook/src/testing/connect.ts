import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient, Credentials, Transport } from '@spotalis/kube';
import { kubeconfigOf } from './service.ts';

export interface Connection {
  readonly client: ApiClient;
  close(): Promise<void>;
}

/** To an API server at this URL. */
export function connect(url: string): Connection {
  const directory = mkdtempSync(join(tmpdir(), 'spotalis-connection-'));
  const path = join(directory, 'kubeconfig');
  writeFileSync(path, kubeconfigOf(url));
  const transport = new Transport({ credentials: new Credentials({ path }), userAgent: 'test' });
  return {
    client: new ApiClient(transport),
    async close() {
      await transport.close();
      rmSync(directory, { recursive: true });
    },
  };
}
