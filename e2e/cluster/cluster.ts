import { existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { AuditLog } from './api/audit.ts';
import { ApiClient, type ListOptions } from './api/client.ts';
import { prepareBinaries, prepareNodeBinaries } from './binaries/prepare.ts';
import { type AuditLevel, COMPONENT_NAMES, type ComponentName } from './control-plane/commands.ts';
import { EtcdBackup } from './control-plane/backup.ts';
import { type ControlPlane, layOutControlPlane, startControlPlane } from './control-plane/control-plane.ts';
import { Identities } from './identities.ts';
import { callsIn, keepCalls } from './installation/calls.ts';
import type { Hold } from './kwok/stages.ts';
import { Capacity } from './nodes/capacity.ts';
import { type CapacityType, type NodePlan, planNodes, type Taint } from './nodes/node.ts';
import { holdPods, releasePods } from './pods/hold.ts';
import { announce } from './process/announce.ts';
import type { Component } from './process/component.ts';
import { portIsFree } from './process/ports.ts';
import { scratchDir } from './process/scratch.ts';
import { Supervisor } from './process/supervisor.ts';
import { waitFor } from './process/wait.ts';
import { cgroupPaths } from './real-node/cgroup.ts';
import { type RealNode, startRealNode } from './real-node/node.ts';
import { prepareSite } from './real-node/site.ts';
import { findRedis } from './redis/program.ts';
import { type RedisOptions, type RedisServers, startRedisUnder } from './redis/servers.ts';
import { defineService, type ServiceOptions } from './service.ts';
import { reasonOf } from './process/failure.ts';

export interface ClusterOptions extends Partial<NodePlan> {
  /** Made for this cluster and removed with it: it must not exist, or be empty. A temporary one without it. */
  readonly stateDir?: string;
  /** Keeps the logs: by default they are in the state directory and go with it. */
  readonly logDir?: string;
  /** Of the API server; a free one without it. */
  readonly port?: number;
  /** A kubelet with real containers beside the fake nodes: see `whyNoRealNode` for where this is possible. */
  readonly realNode?: boolean;
  /** Logs every request, see `auditLog`. */
  readonly audit?: boolean | AuditLevel;
  /** Instead of the usual ones, or beside them. */
  readonly apiServerFlags?: Readonly<Record<string, string>>;
  /** A directory that holds the five programs; else see `prepareBinaries`. */
  readonly binaries?: string;
  /** Gets a line when programs have to be fetched or built first. */
  readonly report?: (line: string) => void;
}

class ClusterError extends Error {
  readonly code: 'STATE_DIR_IN_USE' | 'STATE_DIR_UNUSABLE' | 'PORT_IN_USE';

  constructor(code: ClusterError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** A real control plane with fake nodes. Nothing of it outlives `stop()` or this process. */
export class Cluster {
  readonly stateDir: string;
  readonly logDir: string;
  /** As an administrator (system:masters, which is exempt from API priority and fairness). */
  readonly api: ApiClient;
  /** The administrator's kubeconfig file. */
  readonly kubeconfig: string;
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly #auditLog: AuditLog | undefined;
  readonly #plane: ControlPlane;
  readonly #supervisor: Supervisor;
  readonly #capacity: Capacity;
  readonly #components: Map<string, Component>;
  readonly #identities: Identities;
  readonly #node: RealNode | undefined;

  constructor(parts: {
    stateDir: string;
    logDir: string;
    plane: ControlPlane;
    supervisor: Supervisor;
    api: ApiClient;
    capacity: Capacity;
    node: RealNode | undefined;
  }) {
    const { plane } = parts;
    this.stateDir = parts.stateDir;
    this.logDir = parts.logDir;
    this.api = parts.api;
    this.kubeconfig = plane.credentials.kubeconfig('admin');
    this.server = plane.server;
    this.ca = plane.credentials.ca;
    this.#auditLog = plane.auditFile === undefined ? undefined : new AuditLog(plane.auditFile);
    this.#plane = plane;
    this.#supervisor = parts.supervisor;
    this.#capacity = parts.capacity;
    this.#components = new Map(COMPONENT_NAMES.map((name) => [name, plane.components[name]]));
    this.#node = parts.node;
    for (const component of parts.node?.components ?? []) this.#components.set(component.name, component);
    const { dir } = plane.credentials;
    this.#identities = new Identities({ api: this.api, server: this.server, ca: this.ca, dir });
  }

  get auditLog(): AuditLog {
    if (this.#auditLog === undefined)
      throw new Error('there is no audit log: start the cluster with { audit: true }');
    return this.#auditLog;
  }

  get realNode(): RealNode {
    if (this.#node === undefined)
      throw new Error('there is no real node: start the cluster with { realNode: true }');
    return this.#node;
  }

  /** By component or service name; 0 where it does not run. */
  get pids(): Readonly<Record<string, number>> {
    const components = [...this.#components].map(([name, { pid }]) => [name, pid ?? 0] as const);
    return { watchdog: this.#supervisor.watchdogPid, ...Object.fromEntries(components) };
  }

  get ports(): ControlPlane['ports'] {
    return this.#plane.ports;
  }

  // Nodes, as the cloud treats them.

  removeNode(name: string): Promise<void> {
    return this.#capacity.removeNode(name);
  }

  restoreNode(name: string): Promise<void> {
    return this.#capacity.restoreNode(name);
  }

  cordon(name: string): Promise<void> {
    return this.#capacity.cordon(name);
  }

  uncordon(name: string): Promise<void> {
    return this.#capacity.uncordon(name);
  }

  taint(name: string, taint: Taint): Promise<void> {
    return this.#capacity.taint(name, taint);
  }

  untaint(name: string, key: string): Promise<void> {
    return this.#capacity.untaint(name, key);
  }

  /** A drought: every node of the type vanishes with its pods, and there is no other. */
  withdrawCapacity(type: CapacityType): Promise<void> {
    return this.#capacity.withdraw(type);
  }

  returnCapacity(type: CapacityType): Promise<void> {
    return this.#capacity.return(type);
  }

  // Pods, as the kubelet treats them.

  /** Keeps pods that exist from starting, from being ready, or from going away; templates take HOLD_ANNOTATION. */
  holdPods(pods: ListOptions, hold: Hold): Promise<number> {
    return holdPods(this.api, pods, hold);
  }

  releasePods(pods: ListOptions): Promise<number> {
    return releasePods(this.api, pods);
  }

  // Processes: the control plane's, and services that were started here.

  component(name: ComponentName | (string & {})): Component {
    const component = this.#components.get(name);
    if (component === undefined)
      throw new RangeError(
        `nothing here is called ${name}; there are ${[...this.#components.keys()].join(', ')}`,
      );
    return component;
  }

  killComponent(name: ComponentName | (string & {}), signal?: NodeJS.Signals): Promise<void> {
    return this.component(name).kill(signal);
  }

  restartComponent(name: ComponentName | (string & {}), signal?: NodeJS.Signals): Promise<void> {
    return this.component(name).restart(signal);
  }

  freezeComponent(name: ComponentName | (string & {})): void {
    this.component(name).freeze();
  }

  thawComponent(name: ComponentName | (string & {})): void {
    this.component(name).thaw();
  }

  backUpEtcd(): Promise<EtcdBackup> {
    return EtcdBackup.of(this.#plane);
  }

  /** Resolves when it is ready. A name that was used before is taken over once that service has ended. */
  async startService(options: ServiceOptions): Promise<Component> {
    const before = this.#components.get(options.name);
    if (before?.pid !== undefined) throw new Error(`${options.name} runs already (pid ${before.pid})`);
    const service = defineService(this.#supervisor, this.logDir, options);
    this.#components.set(options.name, service);
    await service.start();
    return service;
  }

  /** Redis servers that live and end with this cluster; their processes are components, too: `redis-0`. */
  async startRedis(options: RedisOptions = {}): Promise<RedisServers> {
    if (this.#components.has('redis-0')) throw new Error('this cluster has redis servers already');
    const program = await findRedis({ report: options.report ?? announce });
    const dir = mkdtempSync(join(this.stateDir, 'redis-'));
    let redis: RedisServers | undefined;
    const stop = async () => {
      for (const node of [...(redis?.nodes ?? []), ...(redis?.sentinels ?? [])]) await node.kill();
    };
    redis = await startRedisUnder({ supervisor: this.#supervisor, dir, program, stop }, options);
    for (const node of [...redis.nodes, ...redis.sentinels]) this.#components.set(node.name, node);
    return redis;
  }

  // Identities.

  serviceAccountToken(
    namespace: string,
    name: string,
    options?: { readonly expirationSeconds?: number },
  ): Promise<string> {
    return this.#identities.token(namespace, name, options);
  }

  /** A kubeconfig file for that ServiceAccount: for a process that is to have its rights and no more. */
  kubeconfigFor(
    namespace: string,
    name: string,
    options?: { readonly expirationSeconds?: number },
  ): Promise<string> {
    return this.#identities.kubeconfig(namespace, name, options);
  }

  /** The API as that ServiceAccount sees it. */
  apiAs(namespace: string, name: string): Promise<ApiClient> {
    return this.#identities.api(namespace, name);
  }

  /** Resolves when the cluster has ended, by `stop()` or by anybody else. */
  get ended(): Promise<void> {
    return this.#supervisor.ended;
  }

  /** Ends every process and removes every file. Throws if our services were refused what they asked for. */
  async stop(): Promise<void> {
    const calls = this.#auditLog && callsIn(this.#auditLog);
    await this.#node?.stop();
    await this.api.close();
    await this.#supervisor.stop();
    if (calls !== undefined) keepCalls(calls);
  }
}

/** Resolves when the nodes are Ready and a pod can be created in the namespace `default`. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const {
    spotNodes = 6,
    onDemandNodes = 6,
    podsPerNode = 110,
    nodeLabels = () => ({}),
    port,
    audit = false,
  } = options;
  const stateDir = options.stateDir === undefined ? scratchDir('cluster') : claimStateDir(options.stateDir);
  const dataDir = options.stateDir === undefined ? stateDir : scratchDir('etcd');
  const cgroup = `spotalis-${basename(stateDir)}-${process.pid}`;
  const cgroups = options.realNode ? cgroupPaths(cgroup) : [];
  const supervisor = await Supervisor.start(stateDir, [...cgroups, ...new Set([stateDir, dataDir])]);
  try {
    if (port !== undefined && !(await portIsFree(port))) {
      throw new ClusterError(
        'PORT_IN_USE',
        `port ${port} on 127.0.0.1 is in use: choose another, or none for a free one`,
      );
    }
    const programs = await prepareBinaries({ dir: options.binaries, report: options.report });
    const logDir = resolve(options.logDir ?? join(stateDir, 'logs'));
    const site = options.realNode
      ? await prepareSite({
          supervisor,
          stateDir,
          cgroup,
          cgroups,
          programs: await prepareNodeBinaries({ dir: options.binaries, report: options.report }),
          report: options.report ?? announce,
        })
      : undefined;
    const level = audit === true ? 'Metadata' : audit || undefined;
    const plane = await layOutControlPlane({
      supervisor,
      programs,
      stateDir,
      dataDir,
      logDir,
      port,
      audit: level,
      apiServerFlags: options.apiServerFlags,
      network: site?.network,
    });
    await startControlPlane(plane);
    const api = new ApiClient({ server: plane.server, ca: plane.credentials.ca, ...plane.credentials.admin });
    const capacity = new Capacity(api);
    const { credentials } = plane;
    const [node] = await Promise.all([
      site && startRealNode({ site, supervisor, credentials, api, logDir }),
      capacity.add(planNodes({ spotNodes, onDemandNodes, podsPerNode, nodeLabels })),
    ]);
    await waitFor('the default ServiceAccount', () => api.find('ServiceAccount', 'default/default'));
    return new Cluster({ stateDir, logDir, plane, supervisor, api, capacity, node });
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}

function claimStateDir(dir: string): string {
  const path = resolve(dir);
  try {
    mkdirSync(path, { recursive: true });
    if (existsSync(join(path, 'processes.json')))
      throw new ClusterError(
        'STATE_DIR_IN_USE',
        `${path} holds a cluster already: take it down first, or name another directory`,
      );
    if (readdirSync(path).length > 0)
      throw new ClusterError(
        'STATE_DIR_UNUSABLE',
        `${path} is not empty: name a directory that does not exist yet`,
      );
  } catch (error) {
    if (error instanceof ClusterError) throw error;
    const reason = reasonOf(error);
    throw new ClusterError('STATE_DIR_UNUSABLE', `${path} cannot hold the state of a cluster: ${reason}`);
  }
  return path;
}
