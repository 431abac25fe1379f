import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { type ApiAccess, ApiClient, type KubeObject } from './api/client.ts';
import { Identities } from './identities.ts';
import { claim } from './installation/claim.ts';
import { installed } from './installation/manifests.ts';
import type { Component } from './process/component.ts';
import { reasonOf } from './process/failure.ts';
import { scratchDir } from './process/scratch.ts';
import { Supervisor } from './process/supervisor.ts';
import { defineService, type ServiceOptions } from './service.ts';

class KubeconfigError extends Error {
  readonly code = 'KUBECONFIG';
}

/** Somebody's cluster, kind for example. Nothing of it is started, stopped or changed here but by its API. */
export class ExistingCluster {
  readonly api: ApiClient;
  readonly kubeconfig: string;
  /** Removed by `disconnect`, with the services' logs. */
  readonly stateDir: string;
  readonly #supervisor: Supervisor;
  readonly #identities: Identities;

  constructor(kubeconfig: string, access: ApiAccess, stateDir: string, supervisor: Supervisor) {
    this.kubeconfig = kubeconfig;
    this.stateDir = stateDir;
    this.api = new ApiClient(access);
    this.#supervisor = supervisor;
    this.#identities = new Identities({ api: this.api, server: access.server, ca: access.ca, dir: stateDir });
  }

  /** To be asked before anything is put into it, or deleted: refuses if `install` or these would meet others' objects. */
  claim(manifests: readonly KubeObject[]): Promise<void> {
    return claim(this.api, [...installed(), ...manifests]);
  }

  async startService(options: ServiceOptions): Promise<Component> {
    const service = defineService(this.#supervisor, this.stateDir, options);
    await service.start();
    return service;
  }

  kubeconfigFor(namespace: string, name: string): Promise<string> {
    return this.#identities.kubeconfig(namespace, name);
  }

  /** Ends the processes that were started here, and only those. */
  async disconnect(): Promise<void> {
    await this.api.close();
    await this.#supervisor.stop();
  }
}

export async function connectCluster(kubeconfig: string): Promise<ExistingCluster> {
  const file = resolve(kubeconfig);
  const access = readAccess(file);
  const stateDir = scratchDir('existing');
  return new ExistingCluster(file, access, stateDir, await Supervisor.start(stateDir, [stateDir]));
}

interface Named {
  readonly name?: string;
}

interface Kubeconfig {
  readonly 'current-context'?: string;
  readonly contexts?: readonly (Named & {
    readonly context?: { readonly cluster?: string; readonly user?: string };
  })[];
  readonly clusters?: readonly (Named & { readonly cluster?: Readonly<Record<string, string>> })[];
  readonly users?: readonly (Named & { readonly user?: Readonly<Record<string, string>> })[];
}

/** Tokens and client certificates, inline or in files: what kind and its like write. */
function readAccess(file: string): ApiAccess {
  try {
    const config: Kubeconfig = parse(readFileSync(file, 'utf8'), { prettyErrors: false }) ?? {};
    const named = <T extends Named>(
      entries: readonly T[] | undefined,
      name: string | undefined,
    ): T | undefined => entries?.find((entry) => entry.name === name);
    const context = named(config.contexts, config['current-context'])?.context;
    const cluster = named(config.clusters, context?.cluster)?.cluster;
    const user = named(config.users, context?.user)?.user ?? {};
    if (cluster?.['server'] === undefined)
      throw new Error('its current-context names no cluster with a server');
    const pem = (from: Readonly<Record<string, string>>, key: string): string | undefined => {
      const inline = from[`${key}-data`];
      if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
      const path = from[key];
      return path && readFileSync(join(dirname(file), path), 'utf8');
    };
    const cert = pem(user, 'client-certificate');
    const key = pem(user, 'client-key');
    const { token } = user;
    if (cert === undefined && token === undefined)
      throw new Error('its user has neither a client certificate nor a token');
    return {
      server: cluster['server'],
      ca: pem(cluster, 'certificate-authority') ?? '',
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(token !== undefined && { token }),
    };
  } catch (error) {
    throw new KubeconfigError(`${file} cannot be used as a kubeconfig: ${reasonOf(error)}`, { cause: error });
  }
}
