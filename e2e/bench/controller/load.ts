import { bundleServices, install, startCluster, startRedis } from '@spotalis/cluster';
import type { Bench, BenchContext, Findings } from '../bench.ts';
import { declareLoad, type Load, prepareNamespace } from '../workloads.ts';
import { type Churned, decisionLatency, failOver, type Failover, replacePods } from './motion.ts';
import { observe } from './observation.ts';
import { motionTable, type Sized, sizesTable } from './tables.ts';

const policy = { spotPercentage: 70, minOnDemand: 2 };
const otherPercentage = 60;
const replicas = 10;
/** Of the workloads, in the churn: an hour in which three pods in ten are replaced. */
const churnedShare = 0.3;
const changedPolicies = 200;

interface Moved {
  readonly churned: Churned;
  readonly failover: Failover;
}

async function run({ quick, report }: BenchContext): Promise<Findings> {
  const sizes = quick ? [20, 40] : [1_000, 2_000];
  const rest = quick ? { afterMs: 2_000, forMs: 3_000 } : { afterMs: 66_000, forMs: 20_000 };
  await bundleServices();
  const redis = await startRedis();
  try {
    const cluster = await startCluster({ audit: true, podsPerNode: 2_000 });
    try {
      const installation = await install(cluster, {
        redis: { url: redis.url },
        webhooks: 3,
        controllers: 0,
      });
      report('a controller over an empty cluster');
      const { controller, observation: idle } = await observe(cluster, {
        name: 'controller-idle',
        // Nothing is listed here.
        rest: { ...rest, afterMs: Math.min(rest.afterMs, 10_000) },
        workloads: 0,
      });
      await controller.component.kill('SIGTERM');
      // Pods that stay pending are as many as those that run, and leave the machine to who is measured.
      await cluster.killComponent('kube-scheduler');
      await cluster.killComponent('kwok');
      const measured: Sized[] = [];
      let moved: Moved | undefined;
      for (const size of sizes) {
        const before = measured.at(-1)?.workloads ?? 0;
        const load: Load = { name: 'load', deployments: size - before, replicas, policy };
        const namespace = `load-${size}`;
        report(`${load.deployments * replicas} more pods are being created`);
        await prepareNamespace(cluster.api, namespace);
        await declareLoad(cluster.api, load, namespace);
        report(`a controller over ${size} workloads`);
        const names = Array.from({ length: load.deployments }, (_, index) => `${namespace}/load-${index}`);
        const { controller: leader, observation } = await observe(cluster, {
          name: `controller-${size}`,
          rest,
          workloads: size,
        });
        const latency = await decisionLatency(cluster, leader, {
          workloads: names.slice(-changedPolicies),
          percentage: otherPercentage,
        });
        measured.push({ workloads: size, pods: size * replicas, observation, latency });
        // Once is enough, and the smaller one is the one that there are bounds for.
        if (size === sizes[0]) {
          report(`${size * churnedShare * replicas} pods are replaced, and the leader is killed`);
          const churned = await replacePods(cluster, leader, names.slice(0, size * churnedShare), replicas);
          moved = {
            churned,
            failover: await failOver(cluster, leader, { name: 'standby', workloads: size }),
          };
        } else {
          await leader.component.kill('SIGTERM');
        }
      }
      await installation.balancer.close();
      return {
        baseline: 'the same process over an empty cluster.',
        tables: [
          sizesTable(idle, measured, rest),
          ...(moved === undefined ? [] : [motionTable(sizes[0] ?? 0, idle, moved.churned, moved.failover)]),
        ],
        raw: { idle, measured, moved },
      };
    } finally {
      await cluster.stop();
    }
  } finally {
    await redis.stop();
  }
}

export const controllerBench: Bench = { name: 'controller', title: 'The controller under load', run };
