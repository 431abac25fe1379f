/**
 * `npm start`: a live cluster whose workloads are being split. Real API server, real services; Redis if there is
 * one or can be had, else the embedded ledger. Stays until Ctrl-C, or with --exit-when-settled until every
 * sample workload is on target.
 */
import { parseArgs } from 'node:util';
import {
  type ApiClient,
  bundleServices,
  connectCluster,
  install,
  type InstallationTarget,
  type RedisServers,
  startCluster,
  startRedis,
  uninstall,
  waitFor,
} from '@spotalis/cluster';
import { observe } from './observation.ts';
import { sampleManifests, sampleNamespace } from './samples.ts';
import { coloured, isSettled, plain, renderTable } from './table.ts';

const settleTimeoutMs = 180_000;
const refreshMs = 500;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const usage = `npm start                            a live cluster, until Ctrl-C
npm start -- --exit-when-settled     ends once every sample workload is on target
npm start -- --redis real|memory     insists on a real Redis, or on the embedded ledger
npm start -- --kubeconfig FILE       on this cluster, whose nodes carry karpenter.sh/capacity-type
             --host ADDRESS          where its API server finds this machine; 127.0.0.1 without it
`;

interface Plan {
  readonly exitWhenSettled: boolean;
  readonly redis: 'any' | 'real' | 'memory';
  readonly kubeconfig: string | undefined;
  readonly host: string | undefined;
}

/** undefined when only the usage was asked for. */
function readArguments(): Plan | undefined {
  const { values } = parseArguments();
  if (values.help) return undefined;
  const { redis } = values;
  if (redis !== 'any' && redis !== 'real' && redis !== 'memory') {
    throw new Error(`--redis is real or memory, not '${redis}'`);
  }
  return {
    exitWhenSettled: values['exit-when-settled'],
    redis,
    kubeconfig: values.kubeconfig,
    host: values.host,
  };
}

function parseArguments() {
  try {
    return parseArgs({
      options: {
        'exit-when-settled': { type: 'boolean', default: false },
        redis: { type: 'string', default: 'any' },
        kubeconfig: { type: 'string' },
        host: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    // Node goes on with advice about positional arguments.
    const [sentence] = String(error instanceof Error ? error.message : error).split(/\.\s|\n/);
    throw new Error(`${sentence}: npm start -- --help shows what there is`, { cause: error });
  }
}

async function redisOrNone(wanted: Plan['redis']): Promise<RedisServers | undefined> {
  if (wanted === 'memory') return undefined;
  try {
    return await startRedis({ report: say });
  } catch (error) {
    if (wanted === 'real') throw error;
    say(`No Redis: ${error instanceof Error ? error.message : String(error)}`);
    say('Going on with the embedded ledger, which takes a single webhook.');
    return undefined;
  }
}

/** Resolves at the first Ctrl-C or SIGTERM. */
function interruption(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}

async function settle(api: ApiClient): Promise<void> {
  const began = performance.now();
  const rows = await waitFor(
    'the sample workloads to be on target',
    async () => {
      const now = await observe(api);
      return now.every(isSettled) ? now : undefined;
    },
    { timeoutMs: settleTimeoutMs, intervalMs: refreshMs },
  );
  say(renderTable(rows, plain));
  say(`Settled ${((performance.now() - began) / 1000).toFixed(1)} s after the workloads were applied.`);
}

async function showUntil(api: ApiClient, ended: Promise<void>): Promise<void> {
  let going = true;
  const stopped = ended.then(() => {
    going = false;
  });
  const live = process.stdout.isTTY;
  const style = live && !process.env['NO_COLOR'] ? coloured : plain;
  let before = '';
  while (going) {
    const table = await observe(api).then(
      (rows) => renderTable(rows, style),
      (error: unknown) => `the API server does not answer: ${String(error)}`,
    );
    if (table !== before) {
      // On a terminal the table is drawn over the one before.
      if (live && before !== '') process.stdout.write(`\u001b[${before.split('\n').length + 1}A\u001b[0J`);
      say(`${table}\n`);
      before = table;
    }
    await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, refreshMs))]);
  }
}

/** A cluster for the tour, with what to do when it is over. */
interface Place {
  readonly cluster: InstallationTarget & { readonly kubeconfig: string };
  readonly leave: () => Promise<void>;
}

async function findPlace({ kubeconfig }: Plan): Promise<Place> {
  if (kubeconfig === undefined) {
    say('Starting a control plane with 12 nodes, 6 spot and 6 on-demand ...');
    const cluster = await startCluster({ report: say });
    return { cluster, leave: () => cluster.stop() };
  }
  const cluster = await connectCluster(kubeconfig);
  const leave = async (): Promise<void> => {
    try {
      await uninstall(cluster.api);
      await cluster.api.delete('Namespace', sampleNamespace);
    } finally {
      await cluster.disconnect();
    }
  };
  return { cluster, leave };
}

async function tour(plan: Plan): Promise<void> {
  const ended = interruption();
  say('Bundling the services ...');
  await bundleServices();
  const redis = await redisOrNone(plan.redis);
  let place: Place | undefined;
  try {
    place = await findPlace(plan);
    const { cluster } = place;
    say('Starting the webhook and the controller ...');
    const installation = await install(cluster, {
      redis: { url: redis?.url ?? 'memory://' },
      webhooks: redis === undefined ? 1 : 3,
      ...(plan.host && { host: plan.host }),
    });
    const webhooks = redis === undefined ? '1 webhook' : `${installation.webhooks.length} webhooks`;
    const ledger = redis === undefined ? 'the webhook' : 'Redis';
    say(`Up: ${webhooks}, ${installation.controllers.length} controllers, ledger in ${ledger}.`);
    await cluster.api.apply(sampleManifests);
    if (plan.exitWhenSettled) {
      await settle(cluster.api);
    } else {
      say(`Use it yourself:  export KUBECONFIG=${cluster.kubeconfig}`);
      say('For example:      kubectl -n shop scale deployment web --replicas 40');
      say('Ctrl-C ends it and leaves nothing behind.\n');
      await showUntil(cluster.api, ended);
    }
    await installation.stop();
  } finally {
    await place?.leave();
    await redis?.stop();
  }
}

try {
  const plan = readArguments();
  if (plan === undefined) say(usage);
  else await tour(plan);
} catch (error) {
  process.stderr.write(`spotalis: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
