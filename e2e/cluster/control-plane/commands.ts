import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { stagesFile, FAKE_NODE_ANNOTATION } from '../kwok/stages.ts';
import type { NodeNetwork } from '../real-node/network.ts';
import { type Credentials, SERVICE_RANGE } from './credentials.ts';

/** In the order in which they start. */
export const COMPONENT_NAMES = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kwok',
] as const;
export type ComponentName = (typeof COMPONENT_NAMES)[number];

export type AuditLevel = 'Metadata' | 'Request' | 'RequestResponse';

export interface Ports {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly apiserver: number;
  readonly controllerManager: number;
  readonly scheduler: number;
  readonly kwok: number;
}

export interface Layout {
  readonly configDir: string;
  readonly dataDir: string;
  readonly ports: Ports;
  readonly credentials: Credentials;
  readonly network: NodeNetwork | undefined;
  readonly audit: { readonly level: AuditLevel; readonly file: string } | undefined;
  readonly apiServerFlags: Readonly<Record<string, string>>;
}

const LOOPBACK = '127.0.0.1';
/** The control plane must never be what a test waits for. */
const CLIENT_QPS = 5000;

/** The arguments of each program. All of them listen on loopback only, or on the line to a real node. */
export function commandLines(layout: Layout): Record<ComponentName, string[]> {
  mkdirSync(layout.configDir, { recursive: true });
  return {
    etcd: etcd(layout),
    'kube-apiserver': apiserver(layout),
    'kube-controller-manager': controllerManager(layout),
    'kube-scheduler': scheduler(layout),
    kwok: kwok(layout),
  };
}

export const etcdDirIn = (dataDir: string): string => join(dataDir, 'etcd');

function etcd({ ports, dataDir }: Layout): string[] {
  const client = `http://${LOOPBACK}:${ports.etcd}`;
  const peer = `http://${LOOPBACK}:${ports.etcdPeer}`;
  return flags({
    name: 'test',
    'data-dir': etcdDirIn(dataDir),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `test=${peer}`,
    // The data does not outlive the machine anyway.
    'unsafe-no-fsync': 'true',
    'quota-backend-bytes': String(8 * 1024 ** 3),
    'log-level': 'warn',
  });
}

function apiserver({ ports, credentials, audit, configDir, network, apiServerFlags }: Layout): string[] {
  const { file, caFile } = credentials;
  return flags({
    'etcd-servers': `http://${LOOPBACK}:${ports.etcd}`,
    'bind-address': LOOPBACK,
    'advertise-address': LOOPBACK,
    'secure-port': String(ports.apiserver),
    'endpoint-reconciler-type': 'none',
    'service-cluster-ip-range': SERVICE_RANGE,
    'allow-privileged': 'true',
    'authorization-mode': 'Node,RBAC',
    'client-ca-file': caFile,
    'tls-cert-file': file('server.crt'),
    'tls-private-key-file': file('server.key'),
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': file('service-accounts.pub'),
    'service-account-signing-key-file': file('service-accounts.key'),
    // Without these the logs of the others fill with authentication errors.
    'requestheader-client-ca-file': file('front-proxy-ca.crt'),
    'requestheader-allowed-names': 'front-proxy-client',
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-username-headers': 'X-Remote-User',
    'proxy-client-cert-file': file('front-proxy-client.crt'),
    'proxy-client-key-file': file('front-proxy-client.key'),
    'max-requests-inflight': '3000',
    'max-mutating-requests-inflight': '1500',
    ...(audit && {
      'audit-log-path': audit.file,
      'audit-policy-file': writeAuditPolicy(configDir, audit.level),
      // In MB. A log that is rotated away cannot be read whole.
      'audit-log-maxsize': '4096',
    }),
    ...(network && joinedBy(network, credentials)),
    ...apiServerFlags,
  });
}

/** Pods find the API server through its Service, and it finds the kubelet. */
function joinedBy(network: NodeNetwork, { file, caFile }: Credentials): Record<string, string> {
  return {
    'bind-address': network.hostAddress,
    'advertise-address': network.hostAddress,
    'endpoint-reconciler-type': 'lease',
    'service-cluster-ip-range': network.serviceRange,
    'kubelet-client-certificate': file('kubelet-client.crt'),
    'kubelet-client-key': file('kubelet-client.key'),
    'kubelet-certificate-authority': caFile,
    'kubelet-preferred-address-types': 'InternalIP',
    // A namespace whose pods have to run for real says so by annotations, see `realNodeOnly`.
    'enable-admission-plugins': 'PodNodeSelector,PodTolerationRestriction',
  };
}

function controllerManager({ ports, credentials }: Layout): string[] {
  const kubeconfig = credentials.kubeconfig('kube-controller-manager');
  return flags({
    ...serving(ports.controllerManager, credentials),
    kubeconfig,
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    'use-service-account-credentials': 'true',
    'service-account-private-key-file': credentials.file('service-accounts.key'),
    'root-ca-file': credentials.caFile,
    'leader-elect': 'false',
    // With the defaults (20/30/5) a burst becomes one pod every 50 ms.
    'kube-api-qps': String(CLIENT_QPS),
    'kube-api-burst': String(CLIENT_QPS),
    'concurrent-replicaset-syncs': '20',
  });
}

function scheduler({ ports, credentials, configDir }: Layout): string[] {
  const kubeconfig = credentials.kubeconfig('kube-scheduler');
  const config = write(configDir, 'scheduler.yaml', {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig, qps: CLIENT_QPS, burst: CLIENT_QPS },
    leaderElection: { leaderElect: false },
  });
  return flags({
    ...serving(ports.scheduler, credentials),
    config,
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
  });
}

function kwok({ ports, credentials, configDir }: Layout): string[] {
  const stages = join(configDir, 'stages.yaml');
  writeFileSync(stages, stagesFile());
  return flags({
    kubeconfig: credentials.kubeconfig('kwok'),
    config: stages,
    cidr: '10.128.0.0/10',
    'manage-all-nodes': 'false',
    'manage-nodes-with-annotation-selector': `${FAKE_NODE_ANNOTATION.name}=${FAKE_NODE_ANNOTATION.value}`,
    // A KWOK that was killed and comes back is another holder: it gets a node when the old lease has run out.
    'node-lease-duration-seconds': '10',
    'server-address': `${LOOPBACK}:${ports.kwok}`,
    v: 'WARN',
  });
}

function serving(port: number, { file }: Credentials): Record<string, string> {
  return {
    'bind-address': LOOPBACK,
    'secure-port': String(port),
    'tls-cert-file': file('server.crt'),
    'tls-private-key-file': file('server.key'),
  };
}

/** Leases are left out: nodes renew them all the time and no test asks about that. */
function writeAuditPolicy(configDir: string, level: AuditLevel): string {
  return write(configDir, 'audit-policy.yaml', {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [
      { level: 'None', namespaces: ['kube-node-lease'] },
      { level: 'None', nonResourceURLs: ['/healthz*', '/livez*', '/readyz*'] },
      // When it begins: most end with the cluster, and would never be seen.
      { level, verbs: ['watch'], omitStages: ['ResponseComplete'] },
      { level, omitStages: ['ResponseStarted'] },
    ],
  });
}

function write(dir: string, name: string, content: object): string {
  const file = join(dir, name);
  writeFileSync(file, stringify(content));
  return file;
}

function flags(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`);
}
