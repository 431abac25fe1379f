import { beforeEach, describe, expect, it } from '@jest/globals';
import { Store } from '@spotalis/kube';
import { MemoryLedger } from '@spotalis/ledger';
import { Lookup } from './lookup.ts';
import { Owners } from './owners.ts';
import type { OptInRecord } from './record.ts';
import type { LiveReplicaSet } from '../cluster/replicaset.ts';
import { Workloads } from './workloads.ts';

const pod = {
  ours: true,
  namespace: 'shop',
  owner: { kind: 'ReplicaSet', name: 'web-1', uid: 'rs' },
  dryRun: false,
} as const;

function record(name: string, uid: string): OptInRecord {
  return {
    metadata: { name, uid, resourceVersion: '1' },
    labels: { 'spotalis.io/enabled': 'true' },
    annotations: { 'spotalis.io/spot-percentage': '70' },
    firstOrdinal: 0,
  };
}

/** The API server, with one ReplicaSet and the Deployment called `web`. */
class World {
  now = 0;
  replicaSetReads = 0;
  deploymentReads = 0;
  /** Undefined: deleted. */
  deployment: OptInRecord | undefined = record('web', 'first');
  owner: LiveReplicaSet['deployment'] = { uid: 'first', name: 'web' };
  isReplicaSetThere = true;
  #version = 10;
  readonly ledger = new MemoryLedger({ now: () => this.now });

  adopt(uid: string): void {
    this.deployment = record('web', uid);
    this.owner = { uid, name: 'web' };
    this.#version++;
  }

  /** One process. */
  workloads(): Workloads {
    const now = () => this.now;
    const lookup = (read: () => Promise<OptInRecord | undefined>) =>
      new Lookup({ store: new Store<OptInRecord>(), read, now });
    return new Workloads({
      namespaces: lookup(async () => record('shop', 'namespace')),
      deployments: lookup(async () => {
        this.deploymentReads++;
        return this.deployment;
      }),
      statefulSets: lookup(async () => undefined),
      owners: new Owners({
        ledger: this.ledger,
        newborn: () => undefined,
        read: async () => {
          this.replicaSetReads++;
          if (!this.isReplicaSetThere) return undefined;
          const replicas = { replicas: 3, resourceVersion: String(this.#version) };
          return { replicas, birth: { createdAtMs: 0, untouched: false }, deployment: this.owner };
        },
        now,
      }),
      scope: { namespaces: [], namespaceSelector: {}, excludedNamespaces: [] },
      defaults: () => noDefaults,
    });
  }
}

const noDefaults = {};

let world: World;
beforeEach(() => {
  world = new World();
});

describe('the workload of a pod', () => {
  it('is the Deployment that adopted its ReplicaSet, when the one that made it was deleted without its pods', async () => {
    const [one, another] = [world.workloads(), world.workloads()];
    for (const process of [one, another]) {
      expect(await process.resolve(pod)).toMatchObject({ kind: 'managed', workload: { uid: 'first' } });
    }
    world.adopt('second');
    world.now += 6_000;
    const managed = { kind: 'managed', workload: { uid: 'second' } };
    expect(await one.resolve(pod)).toMatchObject({ ...managed, replicas: { resourceVersion: '11' } });
    expect(await one.resolve(pod)).toMatchObject(managed);
    expect(await another.resolve(pod)).toMatchObject(managed);
    // The ledger has heard of it.
    expect(await world.workloads().resolve(pod)).toMatchObject(managed);
    expect(world.replicaSetReads).toBe(3);
  });

  it('is missing while a deleted Deployment takes its ReplicaSets with it, which no pod asks for again', async () => {
    const workloads = world.workloads();
    await workloads.resolve(pod);
    world.deployment = undefined;
    world.now += 6_000;
    for (let asked = 0; asked < 5; asked++) {
      expect(await workloads.resolve(pod)).toEqual({ kind: 'missing', what: 'Deployment shop/web' });
    }
    expect(world.replicaSetReads).toBe(2);
    expect(world.deploymentReads).toBe(2);
  });

  it('is missing when both are deleted and their pods are still going, which no pod asks for again', async () => {
    const workloads = world.workloads();
    await workloads.resolve(pod);
    world.deployment = undefined;
    world.isReplicaSetThere = false;
    world.now += 6_000;
    for (let asked = 0; asked < 5; asked++) {
      expect(await workloads.resolve(pod)).toMatchObject({ kind: 'missing' });
    }
    expect(world.replicaSetReads).toBe(2);
  });

  it('is none where the ReplicaSet was left to itself', async () => {
    const workloads = world.workloads();
    await workloads.resolve(pod);
    world.deployment = undefined;
    world.owner = undefined;
    world.now += 6_000;
    for (let asked = 0; asked < 5; asked++) {
      expect(await workloads.resolve(pod)).toEqual({ kind: 'unmanaged', reason: 'Unowned' });
    }
    expect(world.replicaSetReads).toBe(2);
  });
});
