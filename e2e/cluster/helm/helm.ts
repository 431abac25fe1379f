import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments, stringify } from 'yaml';
import type { KubeObject } from '../api/client.ts';
import { prepareHelm } from '../binaries/prepare.ts';
import { run } from '../process/run.ts';
import { majorOf, versionOf } from '../versions.ts';

/** Thrown when helm refuses; the message is what it said. */
export class HelmError extends Error {
  readonly code = 'HELM';
}

export type Values = Readonly<Record<string, unknown>>;

export interface Release {
  readonly name: string;
  readonly namespace: string;
}

/** The chart as it is in this repository; a subchart by its name. */
export function chartDir(subchart?: 'controller' | 'webhook' | 'redis'): string {
  const path = subchart === undefined ? 'charts/spotalis' : `charts/spotalis/charts/${subchart}`;
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}

/** The real helm, with settings and caches of its own. With a kubeconfig it acts on that cluster. */
export class Helm {
  readonly #command: string;
  readonly #home: string;
  readonly #kubeconfig: string | undefined;
  #calls = 0;

  private constructor(command: string, kubeconfig: string | undefined) {
    this.#command = command;
    this.#home = mkdtempSync(join(tmpdir(), 'helm-'));
    this.#kubeconfig = kubeconfig;
  }

  static async prepare({ kubeconfig }: { readonly kubeconfig?: string } = {}): Promise<Helm> {
    return new Helm(await prepareHelm(), kubeconfig);
  }

  /** What would be installed, without asking any cluster. */
  async template(release: Release, chart: string, values: Values = {}): Promise<KubeObject[]> {
    const text = await this.#run(
      ['template', release.name, chart, ...at(release), '--kube-version', versionOf('kubernetes')],
      values,
    );
    return parseAllDocuments(text).flatMap((document): KubeObject[] => {
      const [error] = document.errors;
      if (error) throw error;
      const object: KubeObject | null = document.toJS();
      return object === null ? [] : [object];
    });
  }

  lint(chart: string, values: Values = {}): Promise<string> {
    return this.#run(['lint', '--strict', chart, '--kube-version', versionOf('kubernetes')], values);
  }

  async install(release: Release, chart: string, values: Values = {}): Promise<void> {
    await this.#run(['install', release.name, chart, ...at(release), '--create-namespace'], values);
  }

  async upgrade(release: Release, chart: string, values: Values = {}): Promise<void> {
    await this.#run(['upgrade', release.name, chart, ...at(release)], values);
  }

  /** To the revision before the last, or to that one. */
  async rollback(release: Release, revision?: number): Promise<void> {
    const to = revision === undefined ? [] : [String(revision)];
    // Since 4 it applies on the server, where whoever scaled in between owns the number of replicas.
    const force = majorOf('helm') < 4 ? [] : ['--force-conflicts'];
    await this.#run(['rollback', release.name, ...to, ...at(release), ...force]);
  }

  async uninstall(release: Release): Promise<void> {
    await this.#run(['uninstall', release.name, ...at(release), '--wait']);
  }

  /** Removes its settings and caches. */
  dispose(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  async #run(args: readonly string[], values?: Values): Promise<string> {
    const env = {
      HELM_CACHE_HOME: join(this.#home, 'cache'),
      HELM_CONFIG_HOME: join(this.#home, 'config'),
      HELM_DATA_HOME: join(this.#home, 'data'),
      // Not the user's cluster by mistake.
      KUBECONFIG: this.#kubeconfig ?? join(this.#home, 'none'),
    };
    const all = [...args];
    if (values !== undefined) {
      const file = join(this.#home, `values-${this.#calls++}.yaml`);
      // As helm reads it, to whom a bare yes is a boolean.
      writeFileSync(file, stringify(values, { version: '1.1' }));
      all.push('--values', file);
    }
    const { ok, stdout, stderr } = await run(this.#command, all, env);
    if (!ok) throw new HelmError(stderr.trim() || stdout.trim());
    return stdout;
  }
}

const at = ({ namespace }: Release): string[] => ['--namespace', namespace];
