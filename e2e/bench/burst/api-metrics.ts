import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import type { Cluster } from '@spotalis/cluster';
import { parse } from 'yaml';

interface Kubeconfig {
  readonly users: readonly {
    readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string };
  }[];
}

/** The API server's own metrics, as text: ApiClient reads JSON only. */
export class ApiMetrics {
  readonly #agent: Agent;
  readonly #url: URL;

  constructor(cluster: Cluster) {
    const { users }: Kubeconfig = parse(readFileSync(cluster.kubeconfig, 'utf8'));
    const user = users[0]?.user;
    if (user === undefined) throw new Error(`${cluster.kubeconfig} names no user`);
    this.#url = new URL('/metrics', cluster.server);
    this.#agent = new Agent({
      ca: cluster.ca,
      cert: Buffer.from(user['client-certificate-data'], 'base64'),
      key: Buffer.from(user['client-key-data'], 'base64'),
      keepAlive: true,
    });
  }

  read(): Promise<string> {
    return new Promise((resolve, reject) => {
      get(this.#url, { agent: this.#agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`the API server's metrics: ${response.statusCode} ${text.slice(0, 200)}`));
        });
      }).on('error', reject);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
