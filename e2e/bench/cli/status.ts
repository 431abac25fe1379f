import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { bundleServices, type Cluster, install, startCluster, startRedis } from '@spotalis/cluster';
import type { Bench, BenchContext, Findings } from '../bench.ts';
import { repository } from '../results.ts';
import { median } from '../statistics.ts';
import { declareLoad, type Load, podsOf, prepareNamespace } from '../workloads.ts';

interface Run {
  readonly seconds: number;
  readonly rssMiB: number;
  readonly lines: number;
}

const program = join(repository, 'packages', 'cli', 'dist', 'kubectl-spotalis.mjs');
/** Has the program say at its end how much memory it held at most; maxRSS begins at that of who starts it. */
const witness =
  'data:text/javascript,import {readFileSync} from "node:fs";' +
  'process.on("exit",()=>process.stderr.write(readFileSync("/proc/self/status","utf8")))';
const REPEATS = 5;

async function run({ quick, report }: BenchContext): Promise<Findings> {
  const policy = { spotPercentage: 70, minOnDemand: 2 };
  const load: Load = { name: 'load', deployments: quick ? 20 : 1_000, replicas: 10, policy };
  await bundleServices();
  const redis = await startRedis();
  try {
    const cluster = await startCluster({ podsPerNode: 1_000 });
    try {
      const installation = await install(cluster, { redis: { url: redis.url }, webhooks: 3, controllers: 0 });
      await prepareNamespace(cluster.api, 'load');
      const empty = await repeated(cluster, ['status', '-A']);
      // Pods that stay pending are as many as those that run, and leave the machine to who is measured.
      await cluster.killComponent('kube-scheduler');
      await cluster.killComponent('kwok');
      report(`${podsOf(load)} pods are being created`);
      await declareLoad(cluster.api, load, 'load');
      await installation.stop();
      report('and asked for');
      const measured = {
        'status -A': await repeated(cluster, ['status', '-A']),
        'status -A -o json': await repeated(cluster, ['status', '-A', '-o', 'json']),
        'explain deployment/load-7': await repeated(cluster, ['explain', 'deployment/load-7', '-n', 'load']),
        'plan deployment/load-7': await repeated(cluster, [
          'plan',
          'deployment/load-7',
          '-n',
          'load',
          '--spot-percentage',
          '90',
        ]),
      };
      const rows = [['status -A, empty cluster', empty] as const, ...Object.entries(measured)];
      return {
        baseline: 'the same program over an empty cluster.',
        tables: [
          {
            title: `kubectl spotalis over ${load.deployments} workloads, ${podsOf(load)} pods`,
            method: `The bundled program, started anew ${REPEATS} times for each line, the services down; the median time from start to end, and the greatest memory held (getrusage).`,
            columns: [
              { key: 'command', title: 'Command' },
              { key: 'seconds', title: 'Seconds' },
              { key: 'rssMiB', title: 'Memory (RSS), MiB' },
            ],
            rows: rows.map(([command, runs]) => ({
              command,
              seconds: median(runs.map(({ seconds }) => seconds)),
              rssMiB: Math.max(...runs.map(({ rssMiB }) => rssMiB)),
            })),
          },
        ],
        raw: { empty, measured },
      };
    } finally {
      await cluster.stop();
    }
  } finally {
    await redis.stop();
  }
}

async function repeated(cluster: Cluster, args: readonly string[]): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (let count = 0; count < REPEATS; count++) runs.push(await once(cluster, args));
  return runs;
}

function once({ kubeconfig, stateDir }: Cluster, args: readonly string[]): Promise<Run> {
  const flags = ['--kubeconfig', kubeconfig, '--config', join(stateDir, 'spotalis.yaml')];
  const began = performance.now();
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['--import', witness, program, ...args, ...flags],
      { maxBuffer: 256 * 1024 * 1024 },
      (error, stdout, stderr) => {
        // 3 is an answer: what was planned cannot be reached.
        if (error !== null && error.code !== 3) {
          reject(new Error(stderr));
          return;
        }
        const kib = Number(/VmHWM:\s+(\d+) kB/.exec(stderr)?.[1]);
        const seconds = (performance.now() - began) / 1000;
        resolve({ seconds, rssMiB: kib / 1024, lines: stdout.split('\n').length });
      },
    );
  });
}

export const cliBench: Bench = { name: 'cli', title: 'Asking a large cluster', run };
