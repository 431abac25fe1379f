/** Prints who we are by kubeconfigs of every kind, and how they are refused. Writes into the folder that it is given. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { Credentials } from '../../../packages/kube/src/configuration/credentials.ts';

const path = join(process.argv[2], 'kubeconfig');
const base64 = (text) => Buffer.from(text).toString('base64');
const apiVersion = 'client.authentication.k8s.io/v1';
const credential = { apiVersion, kind: 'ExecCredential', status: { token: 'made' } };
const users = {
  token: { token: 'abc' },
  certificate: { 'client-certificate-data': base64('cert'), 'client-key-data': base64('key') },
  password: { username: 'u', password: 'p' },
  plugin: { exec: { apiVersion, command: 'echo', args: [JSON.stringify(credential)] } },
};
const cluster = {
  server: 'https://h:6443',
  'certificate-authority-data': base64('ca'),
  'tls-server-name': 'sni',
};

for (const [name, user] of Object.entries(users)) {
  for (const proxy of [undefined, 'http://p:1', 'socks5://p:1']) {
    const kubeconfig = {
      clusters: [{ name: 'c', cluster: { ...cluster, ...(proxy && { 'proxy-url': proxy }) } }],
      users: [{ name, user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: name, namespace: 'n' } }],
      'current-context': 'x',
    };
    writeFileSync(path, JSON.stringify(kubeconfig));
    try {
      const credentials = new Credentials({ path });
      const { server, namespace, proxyUrl } = credentials;
      console.log(name, server, namespace, proxyUrl, JSON.stringify(await credentials.current()));
    } catch (error) {
      console.log(name, error.message);
    }
  }
}

const config = new KubeConfig();
config.loadFromString(`apiVersion: v1
kind: Config
current-context: x
preferences: {}
clusters:
- name: c
  cluster: { server: "https://h:6443", insecure-skip-tls-verify: true, certificate-authority-data: LS0tLS1CRUdJTg== }
contexts:
- name: x
  context: { cluster: c, user: u }
users:
- name: 'u'
  user:
    exec:
      apiVersion: ${apiVersion}
      command: made
      env: null
      args: [--a, "b"]
`);
console.log(JSON.stringify([config.clusters, config.users, config.contexts, config.currentContext]));
console.log('done');
