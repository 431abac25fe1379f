import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, issueClient, issueLeaf, type KeyPair } from '@spotalis/runtime';
import { stringify } from 'yaml';
import { aMonth } from '../certificates.ts';

/** Who talks to the API server with a certificate; each has a kubeconfig of that name. */
const CLIENTS = {
  admin: { commonName: 'admin', organizations: ['system:masters'] },
  'kube-controller-manager': { commonName: 'system:kube-controller-manager' },
  'kube-scheduler': { commonName: 'system:kube-scheduler' },
  kwok: { commonName: 'kwok', organizations: ['system:masters'] },
  // Of a real node, if there is one, and the API server's for calling it.
  kubelet: { commonName: 'system:node:real-1', organizations: ['system:nodes'] },
  'kube-proxy': { commonName: 'system:kube-proxy' },
  'kubelet-client': { commonName: 'kube-apiserver', organizations: ['system:masters'] },
} as const;

type ClientName = keyof typeof CLIENTS;

/** Paths of everything secret that the control plane needs, and the admin's own pair for the test client. */
export interface Credentials {
  readonly dir: string;
  readonly caFile: string;
  readonly ca: string;
  readonly admin: { readonly cert: string; readonly key: string };
  readonly file: (name: string) => string;
  readonly kubeconfig: (client: ClientName) => string;
}

/** `addresses` are what else the API server, and a kubelet, are called by. */
export async function writeCredentials(
  dir: string,
  server: string,
  addresses: readonly string[] = [SERVICE_IP],
): Promise<Credentials> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = (name: string) => join(dir, name);
  const write = (name: string, content: string) => writeFileSync(file(name), content, { mode: 0o600 });
  const writePair = (name: string, { cert, key }: KeyPair) => {
    write(`${name}.crt`, cert);
    write(`${name}.key`, key);
  };
  const validity = aMonth();
  const authority = await createAuthority({ commonName: 'test cluster', ...validity });
  const frontProxy = await createAuthority({ commonName: 'test cluster front proxy', ...validity });

  write('ca.crt', authority.cert);
  write('front-proxy-ca.crt', frontProxy.cert);
  const proxyClient = { commonName: 'front-proxy-client', ...validity };
  writePair('front-proxy-client', await issueClient(frontProxy, proxyClient));
  const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  const hosts = ['localhost', '127.0.0.1', ...addresses, ...names];
  writePair('server', await issueLeaf(authority, { names: hosts, ...validity }));
  const accounts = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  write('service-accounts.pub', accounts.publicKey.export({ type: 'spki', format: 'pem' }).toString());
  write('service-accounts.key', accounts.privateKey.export({ type: 'sec1', format: 'pem' }).toString());

  const kubeconfig = (client: string) => file(`${client}.kubeconfig`);
  let admin = { cert: '', key: '' };
  for (const [name, client] of Object.entries(CLIENTS)) {
    const pair = await issueClient(authority, { ...client, ...validity });
    writePair(name, pair);
    if (name === 'admin') admin = pair;
    const user = { 'client-certificate-data': base64(pair.cert), 'client-key-data': base64(pair.key) };
    write(`${name}.kubeconfig`, kubeconfigText({ server, ca: authority.cert, name, user }));
  }
  return { dir, caFile: file('ca.crt'), ca: authority.cert, admin, file, kubeconfig };
}

/** The first address of the service range: what the `kubernetes` Service gets. */
const SERVICE_IP = '10.96.0.1';
export const SERVICE_RANGE = '10.96.0.0/16';

interface KubeconfigParts {
  readonly server: string;
  readonly ca: string;
  readonly name: string;
  readonly user: Readonly<Record<string, string>>;
  /** Where its user lives, as a ServiceAccount's files in a pod say. */
  readonly namespace?: string;
}

export function kubeconfigText({ server, ca, name, user, namespace }: KubeconfigParts): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [{ name, user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: name, ...(namespace && { namespace }) } }],
    'current-context': 'test',
  });
}

const base64 = (content: string) => Buffer.from(content).toString('base64');
