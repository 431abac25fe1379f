import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ReplicaSetInfo } from '@spotalis/ledger';
import { Owners } from './owners.ts';
import type { LiveReplicaSet } from '../cluster/replicaset.ts';

const ref = { namespace: 'shop', name: 'web-1', uid: 'rs' };
const live: LiveReplicaSet = {
  replicas: { replicas: 5, resourceVersion: '7' },
  birth: { createdAtMs: 1, untouched: true },
  deployment: { uid: 'd', name: 'web' },
};

const heir = { uid: 'e', name: 'web' };
const adopted: LiveReplicaSet = {
  ...live,
  replicas: { replicas: 5, resourceVersion: '9' },
  deployment: heir,
};
const again = (owners: Owners) => owners.again(ref, { uid: 'd', name: 'web' }, false);

class World {
  now = 0;
  gets = 0;
  answer: LiveReplicaSet | undefined = live;
  newborn: LiveReplicaSet | undefined;
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
      newborn: () => this.newborn,
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

  it('is not read where the ReplicaSet was heard of as a new one, and told to the others', async () => {
    world.newborn = live;
    const told = { kind: 'deployment', deployment: live.deployment, replicas: live.replicas };
    expect(await world.owners().of(ref, false)).toEqual({ ...told, birth: live.birth });
    world.newborn = undefined;
    expect(await world.owners().of(ref, false)).toEqual(told);
    expect(world.gets).toBe(0);
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

  it('is read anew, past the ledger, where the Deployment that was remembered is gone, and told to the others', async () => {
    const [first, second] = [world.owners(), world.owners()];
    await first.of(ref, false);
    await second.of(ref, false);
    world.answer = adopted;
    const burst = await Promise.all([again(first), again(first), again(first)]);
    expect(burst[2]).toMatchObject({ kind: 'deployment', deployment: heir });
    expect(world.gets).toBe(2);
    expect(await first.of(ref, false)).toEqual({ kind: 'deployment', deployment: heir });
    expect(await again(first)).toEqual({ kind: 'deployment', deployment: heir });
    expect(await world.owners().of(ref, false)).toMatchObject({ deployment: heir });
    expect(world.gets).toBe(2);
    expect(await again(second)).toMatchObject({ deployment: heir });
  });

  it('is read every five seconds at most while the Deployment stays away', async () => {
    const owners = world.owners();
    await owners.of(ref, false);
    for (let pod = 0; pod < 3; pod++) {
      expect(await again(owners)).toMatchObject({ deployment: live.deployment });
    }
    expect(world.gets).toBe(2);
    world.now = 5_000;
    world.answer = { ...live, deployment: undefined };
    for (let pod = 0; pod < 3; pod++) {
      expect(await again(owners)).toEqual({ kind: 'unowned' });
      expect(await owners.of(ref, false)).toEqual({ kind: 'unowned' });
    }
    expect(world.gets).toBe(3);
  });
});
