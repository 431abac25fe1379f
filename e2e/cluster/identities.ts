import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiClient } from './api/client.ts';
import { kubeconfigText } from './control-plane/credentials.ts';

export interface IdentitiesParts {
  readonly api: ApiClient;
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  /** Where kubeconfig files go. */
  readonly dir: string;
}

interface TokenOptions {
  readonly expirationSeconds?: number;
}

/** ServiceAccounts of a cluster, to be used from outside of it. They must exist. */
export class Identities {
  readonly #parts: IdentitiesParts;

  constructor(parts: IdentitiesParts) {
    this.#parts = parts;
  }

  /** By the TokenRequest API. */
  async token(
    namespace: string,
    name: string,
    { expirationSeconds = 3600 }: TokenOptions = {},
  ): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds },
    };
    const answer = await this.#parts.api.raw<{ status: { token: string } }>('POST', path, { body });
    return answer.status.token;
  }

  /** For a process that is to have these rights and no more. */
  async kubeconfig(namespace: string, name: string, options?: TokenOptions): Promise<string> {
    const { server, ca, dir } = this.#parts;
    const user = { token: await this.token(namespace, name, options) };
    const file = join(dir, `${namespace}.${name}.kubeconfig`);
    writeFileSync(file, kubeconfigText({ server, ca, name: `${namespace}.${name}`, user, namespace }), {
      mode: 0o600,
    });
    return file;
  }

  async api(namespace: string, name: string): Promise<ApiClient> {
    const { server, ca } = this.#parts;
    return new ApiClient({ server, ca, token: await this.token(namespace, name) });
  }
}
