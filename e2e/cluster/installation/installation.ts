import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, issueLeaf } from '@spotalis/runtime';
import { stringify } from 'yaml';
import { aMonth } from '../certificates.ts';
import type { ApiClient } from '../api/client.ts';
import type { Cluster } from '../cluster.ts';
import type { Component } from '../process/component.ts';
import { freePorts } from '../process/ports.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { bundleOf, nodeArgsOf, nodeEnvironment } from './bundles.ts';
import {
  identities,
  installationNamespace,
  installed,
  type Registration,
  registration,
  type ServiceName,
  sharedCertificate,
  webhookService,
} from './manifests.ts';

export interface InstallationOptions {
  /** As in the configuration: `{ url }`, `{ sentinel }` or `{ cluster }`. `memory://` takes one webhook. */
  readonly redis: Readonly<Record<string, unknown>>;
  /** As in the configuration's `scope.namespaces`: they have to be there. */
  readonly namespaces?: readonly string[];
  readonly webhooks?: number;
  readonly controllers?: number;
  /** Has the webhooks make their certificate themselves, good for this long: a Go duration. Without it, it is provided. */
  readonly certificateLifetime?: string;
  /** Gives the controllers a file of their own, `controller.yaml`, so that a change may reach them first. */
  readonly ownControllerFile?: boolean;
  /** More of the configuration file; wins over what is set here. */
  readonly configuration?: Readonly<Record<string, unknown>>;
  readonly reinvocationPolicy?: Registration['reinvocationPolicy'];
  readonly timeoutSeconds?: Registration['timeoutSeconds'];
  /** Where the services find the API server, if not at its own port: a proxy, whose line a test can cut. */
  readonly apiServerPort?: number;
  /** This machine's address as the API server sees it; loopback without it. */
  readonly host?: string;
  /** More of the environment of a service. */
  readonly env?: Readonly<Partial<Record<ServiceName, Readonly<Record<string, string>>>>>;
}

/** Where the product can be installed: a cluster of our own, or somebody's. */
export type InstallationTarget = Pick<Cluster, 'api' | 'stateDir' | 'startService'> & {
  readonly kubeconfigFor: (namespace: string, name: string) => Promise<string>;
};

interface Replica {
  readonly component: Component;
  readonly metricsPort: number;
  readonly debugPort: number;
}

export interface WebhookReplica extends Replica {
  readonly port: number;
}

/** The product as users run it, on a cluster: its own processes, with the rights of their ServiceAccounts. */
export class Installation {
  readonly webhooks: readonly WebhookReplica[];
  readonly controllers: readonly Replica[];
  /** Between the API server and the webhooks. */
  readonly balancer: Balancer;
  readonly #cluster: InstallationTarget;

  constructor(
    cluster: InstallationTarget,
    webhooks: readonly WebhookReplica[],
    controllers: readonly Replica[],
    balancer: Balancer,
  ) {
    this.#cluster = cluster;
    this.webhooks = webhooks;
    this.controllers = controllers;
    this.balancer = balancer;
  }

  /** Sends new connections only to the webhooks that run. */
  routeToRunning(): void {
    this.balancer.spreadOver(
      this.webhooks.filter(({ component }) => component.pid !== undefined).map(({ port }) => port),
    );
  }

  /** The sum of a series over the webhook replicas that answer. */
  async admissionMetric(series: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const values = this.webhooks.map(({ metricsPort }) => readMetric(metricsPort, series, labels));
    return (await Promise.all(values)).reduce((sum, value) => sum + value, 0);
  }

  async leader(): Promise<string | undefined> {
    const lease = await this.#cluster.api.find<{ spec?: { holderIdentity?: string } }>(
      'Lease',
      `${installationNamespace}/spotalis-controller`,
    );
    return lease?.spec?.holderIdentity || undefined;
  }

  /** Asks every process to end, as Kubernetes would, and waits for it. */
  async stop(): Promise<void> {
    const components = [...this.webhooks, ...this.controllers].map(({ component }) => component);
    await Promise.all(components.map((component) => component.kill('SIGTERM')));
    await this.balancer.close();
  }
}

/** Resolves when every process is ready and the webhook is registered. */
export async function install(
  cluster: InstallationTarget,
  options: InstallationOptions,
): Promise<Installation> {
  const { webhooks: webhookCount = 3, controllers: controllerCount = 2, host, namespaces = [] } = options;
  await cluster.api.apply(identities(namespaces));

  const inCluster = `${webhookService}.${installationNamespace}.svc`;
  const names = ['localhost', '127.0.0.1', inCluster, ...(host ? [host] : [])];
  const { certificateLifetime: lifetime } = options;
  const certificate =
    lifetime === undefined
      ? await provideCertificate(cluster.stateDir, names)
      : { caBundle: '', webhook: shareCertificate(names, lifetime) };
  if (lifetime !== undefined) await cluster.api.apply(sharedCertificate);

  const configFile = join(cluster.stateDir, 'spotalis.yaml');
  const controllerFile = options.ownControllerFile ? join(cluster.stateDir, 'controller.yaml') : configFile;
  const configuration = stringify({
    webhook: certificate.webhook,
    redis: options.redis,
    ...(namespaces.length > 0 && { scope: { namespaces } }),
    ...options.configuration,
  });
  for (const file of new Set([configFile, controllerFile])) writeFileSync(file, configuration);

  async function start(service: ServiceName, index: number): Promise<WebhookReplica> {
    const script = bundleOf(service);
    if (!existsSync(script)) {
      throw new Error(`the bundle of the ${service} is missing: run npm start or npm test, which make it`);
    }
    const [port = 0, metricsPort = 0, healthPort = 0, debugPort = 0] = await freePorts(4);
    const component = await cluster.startService({
      name: `${service}-${index}`,
      nodeArgs: nodeArgsOf(service),
      script,
      args: ['--config', service === 'controller' ? controllerFile : configFile],
      kubeconfig: await kubeconfigOf(cluster, service, options.apiServerPort),
      env: {
        ...nodeEnvironment(),
        ...options.env?.[service],
        SPOTALIS_WEBHOOK_PORT: String(port),
        SPOTALIS_METRICS_PORT: String(metricsPort),
        SPOTALIS_HEALTH_PORT: String(healthPort),
        SPOTALIS_DEBUG_PORT: String(debugPort),
      },
      ready: async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok,
    });
    return { component, port, metricsPort, debugPort };
  }

  const many = (service: ServiceName, count: number): Promise<WebhookReplica[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => start(service, index)));
  const [webhooks, controllers] = await Promise.all([
    many('webhook', webhookCount),
    many('controller', controllerCount),
  ]);

  const balancer = await startBalancer(
    webhooks.map(({ port }) => port),
    { ...(host && { host }) },
  );
  await cluster.api.apply(
    registration({
      url: `https://${host ?? 'localhost'}:${balancer.port}/mutate`,
      caBundle: certificate.caBundle,
      namespaces,
      ...(options.reinvocationPolicy && { reinvocationPolicy: options.reinvocationPolicy }),
      ...(options.timeoutSeconds && { timeoutSeconds: options.timeoutSeconds }),
    }),
  );
  return new Installation(cluster, webhooks, controllers, balancer);
}

interface Certificate {
  /** PEM; empty when the webhooks fill it in. */
  readonly caBundle: string;
  readonly webhook: Readonly<Record<string, unknown>>;
}

async function provideCertificate(stateDir: string, names: readonly string[]): Promise<Certificate> {
  const validity = aMonth();
  const authority = await createAuthority({ commonName: 'Spotalis webhook authority', ...validity });
  const leaf = await issueLeaf(authority, { names, ...validity });
  const certDir = join(stateDir, 'webhook-certificates');
  mkdirSync(certDir, { recursive: true });
  writeFileSync(join(certDir, 'tls.crt'), leaf.cert);
  writeFileSync(join(certDir, 'tls.key'), leaf.key, { mode: 0o600 });
  return { caBundle: authority.cert, webhook: { certDir, certs: { mode: 'provided' } } };
}

const shareCertificate = (names: readonly string[], lifetime: string): Certificate['webhook'] => ({
  certs: { mode: 'auto', names, lifetime, checkPeriod: '250ms' },
});

async function kubeconfigOf(
  cluster: InstallationTarget,
  service: ServiceName,
  port?: number,
): Promise<string> {
  const file = await cluster.kubeconfigFor(installationNamespace, `spotalis-${service}`);
  if (port !== undefined) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/(server: https:\/\/[^:\s]+):\d+/, `$1:${port}`), { mode: 0o600 });
  }
  return file;
}

/** Takes away what `install` put into the cluster. */
export async function uninstall(api: ApiClient): Promise<void> {
  for (const { kind, metadata } of installed().toReversed()) {
    const { name, namespace } = metadata;
    await api.delete(kind, namespace === undefined ? name : `${namespace}/${name}`);
  }
}

/** A process that does not answer counts as zero: it was killed, and its counters with it. */
async function readMetric(
  port: number,
  series: string,
  labels: Readonly<Record<string, string>>,
): Promise<number> {
  const text = await fetch(`http://127.0.0.1:${port}/metrics`).then(
    (answer) => answer.text(),
    () => '',
  );
  let sum = 0;
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${series}{`) && !line.startsWith(`${series} `)) continue;
    if (!Object.entries(labels).every(([name, value]) => line.includes(`${name}="${value}"`))) continue;
    sum += Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return sum;
}
