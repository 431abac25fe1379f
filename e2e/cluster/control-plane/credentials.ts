import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { Authority, type Leaf } from '../certificates/authority.ts';

/** Who talks to the API server with a certificate; each has a kubeconfig of that name. */
const CLIENTS = {
  admin: { commonName: 'admin', organizations: ['system:masters'] },
  'kube-controller-manager': { commonName: 'system:kube-controller-manager' },
  'kube-scheduler': { commonName: 'system:kube-scheduler' },
  kwok: { commonName: 'kwok', organizations: ['system:masters'] },
} as const satisfies Record<string, Leaf>;

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

export function writeCredentials(dir: string, server: string): Credentials {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = (name: string) => join(dir, name);
  const write = (name: string, content: string) => writeFileSync(file(name), content, { mode: 0o600 });
  const authority = new Authority('test cluster');
  const frontProxy = new Authority('test cluster front proxy');
  const issue = (name: string, leaf: Leaf, from = authority) => {
    const { certificate, key } = from.issue(leaf);
    write(`${name}.crt`, certificate);
    write(`${name}.key`, key);
    return { cert: certificate, key };
  };

  write('ca.crt', authority.certificate);
  write('front-proxy-ca.crt', frontProxy.certificate);
  issue('front-proxy-client', { commonName: 'front-proxy-client' }, frontProxy);
  const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  issue('server', { commonName: 'kube-apiserver', hosts: ['localhost', '127.0.0.1', SERVICE_IP, ...names] });
  const accounts = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  write('service-accounts.pub', accounts.publicKey.export({ type: 'spki', format: 'pem' }).toString());
  write('service-accounts.key', accounts.privateKey.export({ type: 'sec1', format: 'pem' }).toString());

  const kubeconfig = (client: string) => file(`${client}.kubeconfig`);
  let admin = { cert: '', key: '' };
  for (const [name, leaf] of Object.entries(CLIENTS)) {
    const { cert, key } = issue(name, leaf);
    if (name === 'admin') admin = { cert, key };
    const user = { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
    write(`${name}.kubeconfig`, kubeconfigText({ server, ca: authority.certificate, name, user }));
  }
  return { dir, caFile: file('ca.crt'), ca: authority.certificate, admin, file, kubeconfig };
}

/** The first address of the service range: what the `kubernetes` Service gets. */
const SERVICE_IP = '10.96.0.1';
export const SERVICE_RANGE = '10.96.0.0/16';

interface KubeconfigParts {
  readonly server: string;
  readonly ca: string;
  readonly name: string;
  readonly user: Readonly<Record<string, string>>;
}

export function kubeconfigText({ server, ca, name, user }: KubeconfigParts): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [{ name, user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: name } }],
    'current-context': 'test',
  });
}

const base64 = (content: string) => Buffer.from(content).toString('base64');
