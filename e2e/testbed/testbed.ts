import { dirname } from 'node:path';
import {
  type Cluster,
  type ClusterOptions,
  type Proxy,
  type RedisOptions,
  type RedisServers,
  type Gate,
  startCluster,
  startGate,
  startProxy,
  startRedis,
  waitFor,
  type Installation,
  type InstallationOptions,
  install,
  installationNamespace,
} from '@spotalis/cluster';
import { type Ledger, openLedger } from '@spotalis/ledger';
import { PodCreations } from '../workloads/creations.ts';
import { type Declaration, manifest, optedInNamespace, Workload } from '../workloads/workload.ts';

export interface TestbedOptions extends Omit<Partial<InstallationOptions>, 'redis' | 'apiServerPort'> {
  readonly redis?: RedisOptions;
  readonly spotNodes?: number;
  readonly onDemandNodes?: number;
  readonly podsPerNode?: number;
  readonly nodeLabels?: NonNullable<ClusterOptions['nodeLabels']>;
  readonly apiServerFlags?: NonNullable<ClusterOptions['apiServerFlags']>;
  /**
   * Holds the webhooks' answers back at random, since fast handlers see little concurrency. As anybody would behind such
   * a network, it has the API server wait longer for them.
   */
  readonly delayAnswersMs?: number;
  /**
   * Deadlines that a busy machine keeps, for laws that hold of what is decided in time. Without it they are as shipped,
   * and a pod that took longer may have to be moved.
   */
  readonly patient?: boolean;
  /** Puts a proxy between the services and the API server. */
  readonly proxied?: boolean;
  /** Puts a gate there instead, which can answer in its place, from the first call on or when a test says so. */
  readonly gated?: boolean | Gate['treat'];
}

interface StageParts {
  readonly cluster: Cluster;
  readonly redis: RedisServers;
  readonly installation: Installation;
  readonly proxy: Proxy | undefined;
  readonly gate: Gate | undefined;
}

/** The longest that `doctor` takes for well chosen. */
const patientSeconds = 5;
const patientWebhook = { SPOTALIS_WEBHOOK_DECISION_TIMEOUT: '4s', SPOTALIS_REDIS_COMMAND_TIMEOUT: '1s' };

/** A takeover in seconds, and yet no Lease is lost to a machine that stalls for a few. */
export const quickTakeover = {
  namespace: installationNamespace,
  leaseDuration: '8s',
  renewDeadline: '6s',
  retryPeriod: '500ms',
};

const writing = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** A cluster with the product installed: what a scenario is played on. */
export class Testbed {
  readonly cluster: Cluster;
  readonly redis: RedisServers;
  readonly installation: Installation;
  readonly #proxy: Proxy | undefined;
  readonly #gate: Gate | undefined;
  #ledger: Ledger | undefined;

  constructor({ cluster, redis, installation, proxy, gate }: StageParts) {
    this.cluster = cluster;
    this.redis = redis;
    this.installation = installation;
    this.#proxy = proxy;
    this.#gate = gate;
  }

  /** Between the services and the API server. */
  get proxy(): Proxy {
    if (this.#proxy === undefined) throw new Error('open the testbed with { proxied: true }');
    return this.#proxy;
  }

  /** Where the proxy is, but it reads what is asked. */
  get gate(): Gate {
    if (this.#gate === undefined) throw new Error('open the testbed with { gated: true }');
    return this.#gate;
  }

  /** What the services share, for looking into it. */
  get ledger(): Ledger {
    this.#ledger ??= openLedger({
      redis: redisSettings(this.redis),
      now: () => performance.now(),
      wallMs: Date.now,
    });
    return this.#ledger;
  }

  /** Applies the namespace and the workload in one go. */
  async declare(declaration: Declaration): Promise<Workload> {
    await this.cluster.api.apply([optedInNamespace(declaration.namespace), manifest(declaration)]);
    return new Workload(this.cluster.api, declaration);
  }

  /** How many admissions the webhooks that live decided without the ledger. */
  async decidedAlone(): Promise<number> {
    const reasons = ['ledger-unavailable', 'late', 'api-unavailable'];
    const counts = await Promise.all(reasons.map((reason) => this.admissions({ reason })));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** How often anybody asked to evict a pod, from the API server's own log. */
  evictions(namespace?: string): number {
    return this.cluster.auditLog.read(
      ({ objectRef }) =>
        objectRef?.resource === 'pods' &&
        objectRef.subresource === 'eviction' &&
        (namespace === undefined || objectRef.namespace === namespace),
      '"subresource":"eviction"',
    ).length;
  }

  /** What our services wrote into the cluster, from the API server's own log; their Leases and Events aside. */
  writes(namespace?: string): readonly { readonly what: string; readonly name: string }[] {
    const ours = `system:serviceaccount:${installationNamespace}:`;
    return this.cluster.auditLog
      .read(
        ({ verb, user, objectRef }) =>
          writing.has(verb) &&
          user.username.startsWith(ours) &&
          objectRef?.resource !== 'leases' &&
          objectRef?.resource !== 'events' &&
          (namespace === undefined || objectRef?.namespace === namespace),
      )
      .map(({ verb, objectRef: { resource = '', subresource, name = '' } = {} }) => ({
        what: `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`}`,
        name,
      }));
  }

  /** How the creations of pods went, of one namespace or of all, from the API server's own log. */
  creations(namespace?: string): PodCreations {
    return PodCreations.of(this.cluster.auditLog, namespace);
  }

  /** Admissions answered so far, by any webhook that is alive. */
  admissions(labels: Readonly<Record<string, string>> = {}): Promise<number> {
    return this.installation.admissionMetric('spotalis_admissions_total', labels);
  }

  /** Resolves with their number when that many admissions have been answered: in time for a fault in mid-burst, as a watch is not. */
  async admitted(count: number): Promise<number> {
    return waitFor(`${count} admissions`, () => this.admissions(), {
      until: (admitted) => admitted >= count,
      timeoutMs: 60_000,
      intervalMs: 1,
    });
  }

  /** Resolves when every webhook reaches its ledger. */
  async ledgerReady(): Promise<void> {
    const { webhooks } = this.installation;
    await waitFor(
      'every webhook to reach its ledger',
      () => this.installation.admissionMetric('spotalis_ledger_mode', { mode: 'ready' }),
      { until: (ready) => ready === webhooks.length },
    );
  }

  async close(): Promise<void> {
    await this.#ledger?.close();
    try {
      await this.cluster.stop();
    } finally {
      await this.installation.balancer.close();
      await this.#proxy?.close();
      await this.#gate?.close();
      await this.redis.stop();
    }
  }
}

export async function openTestbed(options: TestbedOptions = {}): Promise<Testbed> {
  const {
    redis: redisOptions = {},
    spotNodes = 6,
    onDemandNodes = 6,
    podsPerNode = 2_000,
    nodeLabels = () => ({}),
    apiServerFlags = {},
    delayAnswersMs = 0,
    patient = false,
    proxied = false,
    gated = false,
    env,
    ...installation
  } = options;
  const redis = await startRedis(redisOptions);
  try {
    const cluster = await startCluster({
      audit: true,
      spotNodes,
      onDemandNodes,
      podsPerNode,
      nodeLabels,
      apiServerFlags,
    });
    try {
      const proxy = proxied ? await startProxy(cluster.ports.apiserver) : undefined;
      const gate = gated
        ? await startGate({
            apiServerPort: cluster.ports.apiserver,
            credentialsDir: dirname(cluster.kubeconfig),
          })
        : undefined;
      if (gate && typeof gated === 'function') gate.treat = gated;
      const port = proxy?.port ?? gate?.port;
      await cluster.api.apply((installation.namespaces ?? []).map(optedInNamespace));
      const installed = await install(cluster, {
        redis: redisConfiguration(redis),
        ...(port !== undefined && { apiServerPort: port }),
        ...((patient || delayAnswersMs > 0) && { timeoutSeconds: patientSeconds }),
        env: { ...env, webhook: { ...(patient && patientWebhook), ...env?.webhook } },
        ...installation,
      });
      installed.balancer.delayAnswers(delayAnswersMs);
      return new Testbed({ cluster, redis, installation: installed, proxy, gate });
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  } catch (error) {
    await redis.stop();
    throw error;
  }
}

function redisConfiguration({
  mode,
  url,
  masterName,
  sentinels,
}: RedisServers): InstallationOptions['redis'] {
  if (mode !== 'sentinel') return { url };
  return { sentinel: { name: masterName, nodes: sentinels.map(({ host, port }) => `${host}:${port}`) } };
}

function redisSettings({ mode, url, masterName, sentinels }: RedisServers) {
  if (mode !== 'sentinel') return { url };
  return { sentinel: { name: masterName, nodes: sentinels.map(({ host, port }) => ({ host, port })) } };
}
