import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ReplicaSetInfo } from '@spotalis/ledger';
import { Owners } from './owners.ts';
import type { LiveReplicaSet } from './replicaset.ts';

const ref = { namespace: 'shop', name: 'web-1', uid: 'rs' };
const live: LiveReplicaSet = {
  replicas: { replicas: 5, resourceVersion: '7' },
  birth: { createdAtMs: 1, untouched: true },
  deployment: { uid: 'd', name: 'web' },
};

class World {
  now = 0;
  gets = 0;
  answer: LiveReplicaSet | undefined = live;
  ledgerDown = false;
  readonly records = new Map<string, ReplicaSetInfo>();

  owners(): Owners {
    return new Owners({
      ledger: {
        replicaSet: async (uid) => {
          if (this.ledgerDown) throw new Error('down');
          return this.records.get(uid);
        },
        rememberReplicaSet: async (uid, info) => {
          if (this.ledgerDown) throw new Error('down');
          this.records.set(uid, info);
        },
      },
      read: async () => {
        this.gets += 1;
        return this.answer;
      },
      now: () => this.now,
    });
  }
}

let world: World;
beforeEach(() => {
  world = new World();
});

describe('the owner of a ReplicaSet', () => {
  it('is read once for all replicas of ours', async () => {
    const [first, second] = [world.owners(), world.owners()];
    expect(await first.of(ref, false)).toEqual({
      kind: 'deployment',
      deployment: live.deployment,
      replicas: live.replicas,
      birth: live.birth,
    });
    expect(await second.of(ref, false)).toEqual({
      kind: 'deployment',
      deployment: live.deployment,
      replicas: live.replicas,
    });
    expect(await first.of(ref, false)).toEqual({ kind: 'deployment', deployment: live.deployment });
    expect(world.gets).toBe(1);
  });

  it('is read once for a burst', async () => {
    const owners = world.owners();
    await Promise.all([owners.of(ref, false), owners.of(ref, false), owners.of(ref, false)]);
    expect(world.gets).toBe(1);
  });

  it('is found at the API server while the ledger is away', async () => {
    world.ledgerDown = true;
    expect(await world.owners().of(ref, false)).toMatchObject({ kind: 'deployment' });
  });

  it('is not recorded for a dry run', async () => {
    await world.owners().of(ref, true);
    expect(world.records.size).toBe(0);
  });

  it('may come later to a ReplicaSet that has none', async () => {
    world.answer = { ...live, deployment: undefined };
    const owners = world.owners();
    expect(await owners.of(ref, false)).toEqual({ kind: 'unowned' });
    world.answer = live;
    expect(await owners.of(ref, false)).toEqual({ kind: 'unowned' });
    world.now = 5_000;
    expect(await owners.of(ref, false)).toMatchObject({ kind: 'deployment' });
    expect(world.gets).toBe(2);
  });

  it('is missing when the ReplicaSet is', async () => {
    world.answer = undefined;
    expect(await world.owners().of(ref, false)).toEqual({ kind: 'missing' });
  });
});
