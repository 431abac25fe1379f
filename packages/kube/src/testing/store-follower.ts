/**
 * A process that takes in all pods of one namespace, in one of two ways, and says what that did to it. Started
 * by store-comparison.ts, each way in a process of its own, because memory once grown does not tell whose it was.
 */
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { Credentials } from '../configuration/credentials.ts';
import type { KubeObject, RawObject } from '../object.ts';
import { Reflector } from '../reflector/reflector.ts';
import { resource } from '../resource.ts';
import { Store } from '../store.ts';
import { ApiClient } from '../transport/client.ts';
import { Transport } from '../transport/transport.ts';

interface Pod extends RawObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

/** About what a controller keeps of a pod. */
interface PrunedPod extends KubeObject {
  readonly owner: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly node: string | undefined;
  readonly phase: string | undefined;
}

export type Way = 'reflector' | 'informer';

/** What store-comparison.ts reads from standard output. */
export interface Finding {
  readonly objects: number;
  readonly syncMs: number;
  readonly longestStallMs: number;
  /** Highest resident set over that before the start. */
  readonly peakGrowthMb: number;
  readonly settledGrowthMb: number;
}

const NAMESPACE = 'default';
const MB = 1024 * 1024;

const ways: Readonly<Record<Way, (expected: number) => Promise<number>>> = {
  reflector: async () => {
    const client = new ApiClient(new Transport({ credentials: new Credentials(), userAgent: 'bench' }));
    const store = new Store<PrunedPod, 'owner' | 'node'>({
      indexes: {
        owner: (pod) => (pod.owner === undefined ? [] : [pod.owner]),
        node: (pod) => (pod.node === undefined ? [] : [pod.node]),
      },
    });
    const reflector = new Reflector<Pod, PrunedPod>({
      client,
      resource: resource<Pod>('v1', 'pods', 'Pod'),
      select: { namespace: NAMESPACE },
      prune,
      store,
    });
    reflector.start();
    await reflector.synced;
    return store.size;
  },
  informer: async (expected) => {
    const config = new KubeConfig();
    config.loadFromDefault();
    const api = config.makeApiClient(CoreV1Api);
    const list = () => api.listNamespacedPod({ namespace: NAMESPACE });
    const informer = makeInformer(config, `/api/v1/namespaces/${NAMESPACE}/pods`, list);
    await informer.start();
    const size = informer.list(NAMESPACE)?.length ?? 0;
    if (size !== expected) {
      throw new Error(`the informer has ${size} pods of ${expected}`);
    }
    return size;
  },
};

function prune({ metadata, spec, status }: Pod): PrunedPod {
  const { name, namespace = '', uid, resourceVersion, labels = {}, ownerReferences } = metadata;
  return {
    metadata: { name, namespace, uid, resourceVersion },
    owner: ownerReferences?.find((one) => one.controller)?.uid,
    labels,
    node: spec?.nodeName,
    phase: status?.phase,
  };
}

async function follow(way: Way, expected: number): Promise<Finding> {
  globalThis.gc?.();
  const rssBefore = process.memoryUsage.rss();
  const stalls = monitorEventLoopDelay({ resolution: 1 });
  stalls.enable();
  const startMs = performance.now();
  const objects = await ways[way](expected);
  const syncMs = performance.now() - startMs;
  stalls.disable();
  const peak = highestRss();
  globalThis.gc?.();
  return {
    objects,
    syncMs,
    longestStallMs: stalls.max / 1e6,
    peakGrowthMb: (peak - rssBefore) / MB,
    settledGrowthMb: (process.memoryUsage.rss() - rssBefore) / MB,
  };
}

/** Of this program alone: maxRSS begins at that of the process it was started from. */
function highestRss(): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
}

const [way, expected] = process.argv.slice(2);
if (way !== 'reflector' && way !== 'informer') {
  throw new TypeError(`what to measure is "reflector" or "informer", not "${way ?? ''}"`);
}
process.stdout.write(JSON.stringify(await follow(way, Number(expected))));
process.exit();
