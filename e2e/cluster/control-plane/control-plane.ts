import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import type { Programs } from '../binaries/programs.ts';
import { Component } from '../process/component.ts';
import { freePorts } from '../process/ports.ts';
import type { Supervisor } from '../process/supervisor.ts';
import type { NodeNetwork } from '../real-node/network.ts';
import { type AuditLevel, type ComponentName, commandLines, etcdDirIn, type Ports } from './commands.ts';
import { type Credentials, writeCredentials } from './credentials.ts';

export interface ControlPlane {
  /** The URL of the API server. */
  readonly server: string;
  readonly ports: Ports;
  readonly credentials: Credentials;
  readonly components: Readonly<Record<ComponentName, Component>>;
  readonly auditFile: string | undefined;
  /** What etcd keeps. */
  readonly etcdDir: string;
}

export interface ControlPlaneParts {
  readonly supervisor: Supervisor;
  readonly programs: Programs;
  readonly stateDir: string;
  /** For what etcd writes: memory, if there is any. */
  readonly dataDir: string;
  readonly logDir: string;
  /** Of the API server; a free one without it. */
  readonly port: number | undefined;
  readonly audit: AuditLevel | undefined;
  readonly apiServerFlags?: Readonly<Record<string, string>> | undefined;
  /** Where a real node is to join; without one everything listens on loopback. */
  readonly network?: NodeNetwork | undefined;
}

/** Lays everything out; nothing runs yet. */
export async function layOutControlPlane(parts: ControlPlaneParts): Promise<ControlPlane> {
  const { supervisor, programs, stateDir, dataDir, logDir, audit, network, apiServerFlags = {} } = parts;
  const ports = await choosePorts(parts.port);
  const server = origin(ports.apiserver, network?.hostAddress);
  const addresses = network && [network.serviceAddress, network.hostAddress, network.nodeAddress];
  const credentials = await writeCredentials(join(stateDir, 'credentials'), server, addresses);
  const auditFile = audit && join(logDir, 'audit.log');
  mkdirSync(logDir, { recursive: true });
  const args = commandLines({
    configDir: join(stateDir, 'config'),
    dataDir,
    ports,
    credentials,
    network,
    apiServerFlags,
    audit: audit && auditFile ? { level: audit, file: auditFile } : undefined,
  });
  const dispatcher = new Agent({ connect: { ca: credentials.ca, ...credentials.admin } });
  const component = (name: ComponentName, healthUrl: string) =>
    new Component({
      supervisor,
      command: { name, command: programs[name], args: args[name], logFile: join(logDir, `${name}.log`) },
      ready: async () => {
        const { statusCode, body } = await request(healthUrl, { dispatcher, headersTimeout: 5_000 });
        await body.dump();
        return statusCode === 200;
      },
    });
  return {
    server,
    ports,
    credentials,
    auditFile,
    etcdDir: etcdDirIn(dataDir),
    components: {
      etcd: component('etcd', `http://127.0.0.1:${ports.etcd}/health`),
      'kube-apiserver': component('kube-apiserver', `${server}/readyz`),
      'kube-controller-manager': component(
        'kube-controller-manager',
        `${origin(ports.controllerManager)}/healthz`,
      ),
      'kube-scheduler': component('kube-scheduler', `${origin(ports.scheduler)}/healthz`),
      kwok: component('kwok', `http://127.0.0.1:${ports.kwok}/healthz`),
    },
  };
}

export async function startControlPlane({ components }: ControlPlane): Promise<void> {
  await components.etcd.start();
  await components['kube-apiserver'].start();
  await Promise.all([
    components['kube-controller-manager'].start(),
    components['kube-scheduler'].start(),
    components.kwok.start(),
  ]);
}

async function choosePorts(apiserver: number | undefined): Promise<Ports> {
  const [first = 0, etcd = 0, etcdPeer = 0, controllerManager = 0, scheduler = 0, kwok = 0] =
    await freePorts(6);
  return { etcd, etcdPeer, apiserver: apiserver ?? first, controllerManager, scheduler, kwok };
}

const origin = (port: number, host = '127.0.0.1') => `https://${host}:${port}`;
