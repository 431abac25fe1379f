import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { Component } from '../process/component.ts';
import { freePort } from '../process/ports.ts';
import { scratchDir } from '../process/scratch.ts';
import { Supervisor } from '../process/supervisor.ts';
import type { PrometheusPrograms } from './program.ts';

export interface PrometheusOptions {
  readonly programs: PrometheusPrograms;
  /** Where metrics are served on this machine. */
  readonly metricsPorts: readonly number[];
  /** A file of rules, as text. */
  readonly rules: string;
}

interface Alert {
  readonly labels: Readonly<Record<string, string>> & { readonly alertname: string };
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

/** A real Prometheus that looks twice a second. Nothing of it outlives `stop()` or this process. */
export class Prometheus {
  readonly #port: number;
  readonly #stop: () => Promise<void>;

  constructor(port: number, stop: () => Promise<void>) {
    this.#port = port;
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

  stop(): Promise<void> {
    return this.#stop();
  }

  async #ask<T>(path: string): Promise<T> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/api/v1/${path}`);
    const { status, data, error } = (await answer.json()) as { status: string; data: T; error?: string };
    if (status !== 'success') throw new Error(`prometheus refuses ${decodeURIComponent(path)}: ${error}`);
    return data;
  }
}

export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const { programs, metricsPorts, rules } = options;
  const dir = scratchDir('prometheus');
  const supervisor = await Supervisor.start(dir, [dir]);
  const port = await freePort();
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
    ready: async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok,
  });
  try {
    await component.start();
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
  return new Prometheus(port, () => supervisor.stop());
}
