import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Cluster } from '../cluster.ts';
import { Component } from '../process/component.ts';
import { freePort } from '../process/ports.ts';
import { scratchDir } from '../process/scratch.ts';
import { Supervisor } from '../process/supervisor.ts';
import type { PrometheusPrograms } from './program.ts';

export interface PrometheusOptions {
  readonly programs: PrometheusPrograms;
  /** Where metrics are served on this machine. */
  readonly metricsPorts?: readonly number[];
  /** A file of rules, as text. */
  readonly rules?: string;
  /** Whose real node is scraped for what its containers use. */
  readonly containersOf?: Cluster;
}

interface Alert {
  readonly labels: Readonly<Record<string, string>> & { readonly alertname: string };
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

/** A real Prometheus that looks twice a second. Nothing of it outlives `stop()` or this process. */
export class Prometheus {
  readonly url: string;
  readonly #component: Component;
  readonly #stop: () => Promise<void>;

  constructor(url: string, component: Component, stop: () => Promise<void>) {
    this.url = url;
    this.#component = component;
    this.#stop = stop;
  }

  async firing(): Promise<readonly Alert[]> {
    const { alerts } = await this.#ask<{ alerts: readonly Alert[] }>('alerts');
    return alerts.filter(({ state }) => state === 'firing');
  }

  /** How many series the expression has now. Fails where Prometheus does not understand it. */
  async count(expression: string): Promise<number> {
    const path = `query?query=${encodeURIComponent(expression)}`;
    const { result } = await this.#ask<{ result: readonly unknown[] }>(path);
    return result.length;
  }

  /** It is gone, with its data kept. */
  kill(): Promise<void> {
    return this.#component.kill();
  }

  /** On the same port, with the data from before. */
  restart(): Promise<void> {
    return this.#component.restart();
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  async #ask<T>(path: string): Promise<T> {
    const answer = await fetch(`${this.url}/api/v1/${path}`);
    const { status, data, error } = (await answer.json()) as { status: string; data: T; error?: string };
    if (status !== 'success') throw new Error(`prometheus refuses ${decodeURIComponent(path)}: ${error}`);
    return data;
  }
}

export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const { programs, metricsPorts = [], rules = 'groups: []', containersOf } = options;
  const dir = scratchDir('prometheus');
  const supervisor = await Supervisor.start(dir, [dir]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(join(dir, 'rules.yaml'), rules);
  writeFileSync(
    join(dir, 'prometheus.yaml'),
    stringify({
      global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
      rule_files: ['rules.yaml'],
      scrape_configs: [
        {
          job_name: 'spotalis',
          // The workload's namespace, not the scraped pod's.
          honor_labels: true,
          static_configs: [{ targets: metricsPorts.map((each) => `127.0.0.1:${each}`) }],
        },
        ...(containersOf ? [kubeletScrape(containersOf)] : []),
      ],
    }),
  );
  const component = new Component({
    supervisor,
    command: {
      name: 'prometheus',
      command: programs.prometheus,
      args: [
        `--config.file=${join(dir, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(dir, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      logFile: join(dir, 'prometheus.log'),
    },
    ready: async () => (await fetch(`${url}/-/ready`)).ok,
  });
  try {
    await component.start();
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
  return new Prometheus(url, component, () => supervisor.stop());
}

/** As the usual installations scrape cAdvisor, but more often. */
function kubeletScrape({ realNode, stateDir }: Cluster): object {
  const credentials = (file: string) => join(stateDir, 'credentials', file);
  return {
    job_name: 'kubelet',
    scheme: 'https',
    metrics_path: '/metrics/cadvisor',
    scrape_interval: '5s',
    scrape_timeout: '5s',
    tls_config: {
      ca_file: credentials('ca.crt'),
      cert_file: credentials('kubelet-client.crt'),
      key_file: credentials('kubelet-client.key'),
    },
    static_configs: [{ targets: [`${realNode.network.nodeAddress}:10250`] }],
  };
}
