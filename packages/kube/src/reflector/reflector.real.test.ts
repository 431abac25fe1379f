/** @needs control-plane */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, type Proxy, startCluster, startProxy, waitFor } from '@spotalis/cluster';
import { LeaderElector } from '../lease/elector.ts';
import { keyOf, type KubeObject, type RawObject } from '../object.ts';
import { WorkQueue } from '../queue/queue.ts';
import { runWorkers } from '../queue/worker.ts';
import { resource } from '../resource.ts';
import { Store } from '../store.ts';
import { clientOf } from '../testing/real-client.ts';
import type { ApiClient } from '../transport/client.ts';
import { Reflector } from './reflector.ts';

interface ConfigMap extends RawObject {
  readonly data?: Readonly<Record<string, string>>;
}

const configMaps = resource<ConfigMap>('v1', 'configmaps', 'ConfigMap');
const selection = { namespace: 'default', labelSelector: 'watched=yes' };

let cluster: Cluster;
let proxy: Proxy;
let direct: ApiClient;
let proxied: ApiClient;
let mirror: Mirror;

/** A reflector with its store, and what it went through. */
class Mirror {
  readonly store = new Store<KubeObject>({ onHandlerError: () => this.handlerErrors++ });
  readonly log: string[] = [];
  readonly tombstones: string[] = [];
  handlerErrors = 0;
  readonly reflector: Reflector<ConfigMap, KubeObject>;

  constructor(client: ApiClient) {
    this.store.subscribe(() => {
      throw new Error('a handler that always throws');
    });
    this.store.subscribe((change) => {
      if (change.type === 'deleted' && change.tombstone) {
        this.tombstones.push(change.object.metadata.name);
      }
    });
    this.reflector = new Reflector<ConfigMap, KubeObject>({
      client,
      resource: configMaps,
      select: selection,
      prune: ({ metadata: { name, namespace = '', uid, resourceVersion } }) => ({
        metadata: { name, namespace, uid, resourceVersion },
      }),
      store: this.store,
      // Without jitter, which would only make the test longer.
      random: () => 0,
      observer: {
        listed: ({ by, objects }) => this.log.push(`listed ${objects} by ${by}`),
        watchEnded: (reason) => this.log.push(`ended ${reason}`),
        failed: (error) => this.log.push(`failed ${error.message}`),
      },
    });
  }

  versions(): Record<string, string> {
    return versionsOf([...this.store.values()]);
  }

  /** Returns what the server has once the store has had the same; what they have if time runs out. */
  async catchesUp(timeoutMs: number): Promise<Record<string, string>> {
    const endMs = performance.now() + timeoutMs;
    for (;;) {
      const { items } = await direct.list(configMaps, selection);
      const expected = versionsOf(items);
      if (isDeepStrictEqual(this.versions(), expected) || performance.now() > endMs) {
        return expected;
      }
      await delay(50);
    }
  }
}

function versionsOf(objects: readonly KubeObject[]): Record<string, string> {
  const pairs = objects.map((one): [string, string] => [keyOf(one), one.metadata.resourceVersion]);
  return Object.fromEntries(pairs.toSorted(([left], [right]) => left.localeCompare(right)));
}

async function create(name: string): Promise<void> {
  await direct.create(
    configMaps,
    { namespace: 'default' },
    { metadata: { name, labels: { watched: 'yes' } } },
  );
}

async function write(name: string, value: string): Promise<void> {
  await direct.mergePatch(configMaps, { namespace: 'default', name }, { data: { value } });
}

beforeAll(async () => {
  cluster = await startCluster({ spotNodes: 0, onDemandNodes: 0 });
  proxy = await startProxy(Number(new URL(cluster.server).port));
  direct = clientOf(cluster);
  proxied = clientOf(cluster, { port: proxy.port });
  await Promise.all(Array.from({ length: 50 }, (_, i) => create(`one-${i}`)));
  mirror = new Mirror(proxied);
  mirror.reflector.start();
  await mirror.reflector.synced;
}, 120_000);

afterAll(async () => {
  await mirror?.reflector.stop();
  await proxied?.transport.close();
  await direct?.transport.close();
  await proxy?.close();
  await cluster?.stop();
}, 30_000);

describe('a reflector on a real API server', () => {
  it('streams its first list, although one of its handlers throws at every object', () => {
    expect(mirror.log).toEqual(['listed 50 by watch']);
    expect(mirror.store.size).toBe(50);
    expect(mirror.handlerErrors).toBe(50);
  });

  it('follows over a line that is slow and is cut again and again, without listing once more', async () => {
    proxy.slow(20);
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 20 }, (_, i) => write(`one-${i}`, `cut-${round}`)));
      await direct.delete(configMaps, { namespace: 'default', name: `one-${49 - round}` });
      proxy.cut();
    }
    proxy.resume();
    const expected = await mirror.catchesUp(20_000);
    expect(mirror.versions()).toEqual(expected);
    expect(mirror.log.filter((one) => one.startsWith('listed'))).toHaveLength(1);
    expect(mirror.tombstones).toEqual([]);
  }, 30_000);

  it('follows through a restart of the API server in the middle of its watch', async () => {
    await write('one-0', 'before');
    await cluster.restartComponent('kube-apiserver');
    await write('one-0', 'after');
    const expected = await mirror.catchesUp(20_000);
    expect(mirror.versions()).toEqual(expected);
  }, 60_000);

  it('lists again after 410, and delivers the deletion that it missed as a tombstone', async () => {
    proxy.refuse();
    await write('one-0', 'unseen');
    await direct.delete(configMaps, { namespace: 'default', name: 'one-1' });
    await create('late');
    // A new server remembers nothing from before its start.
    await cluster.restartComponent('kube-apiserver');
    mirror.log.length = 0;
    proxy.resume();
    const expected = await mirror.catchesUp(40_000);
    expect(mirror.versions()).toEqual(expected);
    expect(mirror.log.filter((one) => /410/.test(one))).toHaveLength(1);
    expect(mirror.log.filter((one) => one.startsWith('listed'))).toEqual(['listed 45 by watch']);
    expect(mirror.tombstones).toEqual(['one-1']);
  }, 90_000);

  it('lists in pages with the same result where streamed lists are not wanted', async () => {
    const paged = new Mirror(direct);
    let version = '';
    for await (const page of direct.pages(configMaps, { ...selection, limit: 10 })) {
      for (const { metadata } of page.items) {
        paged.store.upsert({ metadata }, true);
      }
      version = page.resourceVersion;
    }
    expect(paged.versions()).toEqual(mirror.versions());
    expect(version).not.toBe('');
  });
});

describe('an API server that is away for half a minute', () => {
  /** Twice as long as a Lease lasts, and until a reflector waits as long between two tries as it ever does. */
  const outageMs = 30_000;

  it('stops the leader in time, and afterwards everything catches up by itself', async () => {
    const seen: string[] = [];
    const elector = (identity: string): LeaderElector =>
      new LeaderElector({
        client: direct,
        namespace: 'default',
        name: 'leader',
        identity,
        onAcquired: () => seen.push(`${identity} acquired`),
        onLost: () => seen.push(`${identity} lost`),
      });
    const first = elector('first');
    first.start();
    await waitFor('the lease', () => first.mayWrite());
    const queue = new WorkQueue();
    let reconciled = 0;
    let failures = 0;
    const workers = runWorkers({
      queue,
      concurrency: 2,
      reconcile: async () => {
        const call = { once: true, deadlineMs: 1_000 } as const;
        await direct.get(configMaps, { namespace: 'default', name: 'one-0' }, call);
        reconciled++;
        return undefined;
      },
      observer: { failed: () => failures++ },
    });

    await cluster.killComponent('kube-apiserver');
    const killedMs = performance.now();
    queue.add('work');
    let lastOpenMs = 0;
    await waitFor('the fence to close', () => {
      // Before it is asked: a machine that stalls in between does not make it look late.
      const askedMs = performance.now() - killedMs;
      if (!first.mayWrite()) return true;
      lastOpenMs = askedMs;
      return false;
    });
    await waitFor('the half minute to pass', () => performance.now() - killedMs > outageMs, {
      timeoutMs: outageMs + 10_000,
    });
    await cluster.component('kube-apiserver').start();
    const backMs = performance.now();
    const second = elector('second');
    second.start();
    await create('after-the-outage');
    const expected = await mirror.catchesUp(45_000);
    expect(mirror.versions()).toEqual(expected);
    const caughtUpMs = performance.now() - backMs;
    queue.add('work');
    await waitFor('the work to be done', () => reconciled > 0, { timeoutMs: 10_000 });
    await waitFor('a leader', () => second.mayWrite(), { timeoutMs: 25_000 });
    process.stdout.write(
      `half a minute without the API server: fence open until ${(lastOpenMs / 1000).toFixed(1)} s, store right ` +
        `${(caughtUpMs / 1000).toFixed(1)} s after its return, ${failures} failed reconciles on the way\n`,
    );
    // The holder gives up after 10 s without a renewal; nobody else takes over before 15.
    expect(lastOpenMs).toBeLessThan(10_500);
    expect(failures).toBeGreaterThan(5);
    expect(seen).toEqual(['first acquired', 'first lost', 'second acquired']);
    await second.stop();
    await queue.shutdown({ drain: false });
    await workers;
  }, 140_000);
});
