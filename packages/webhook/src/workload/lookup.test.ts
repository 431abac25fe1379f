import { beforeEach, describe, expect, it } from '@jest/globals';
import { Store } from '@spotalis/kube';
import { Lookup } from './lookup.ts';
import type { OptInRecord } from './record.ts';

function record(uid: string, version = '1', labels: Record<string, string> = {}): OptInRecord {
  return {
    metadata: { name: 'web', namespace: 'shop', uid, resourceVersion: version },
    labels,
    annotations: {},
    firstOrdinal: 0,
  };
}

const key = 'shop/web';
let store: Store<OptInRecord>;
let now: number;
let reads: number;
let live: OptInRecord | undefined;
let gate: Promise<void>;
let lookup: Lookup;

beforeEach(() => {
  store = new Store<OptInRecord>();
  now = 0;
  reads = 0;
  live = undefined;
  gate = Promise.resolve();
  lookup = new Lookup({
    store,
    now: () => now,
    read: async () => {
      reads += 1;
      const answer = live;
      await gate;
      return answer;
    },
  });
});

describe('a lookup', () => {
  it('is answered by the store alone when it has the object', async () => {
    store.upsert(record('a'), false);
    expect(await lookup.find(key, 'a')).toEqual(record('a'));
    expect(reads).toBe(0);
  });

  it('does not take the store’s word for an object of the same name that was deleted', async () => {
    store.upsert(record('old'), false);
    live = record('new');
    expect(await lookup.find(key, 'new')).toEqual(record('new'));
    live = record('newer');
    expect(await lookup.find(key, 'newer')).toEqual(record('newer'));
    expect(reads).toBe(2);
  });

  it('shares one live read among all who ask meanwhile', async () => {
    live = record('a');
    await Promise.all([lookup.find(key, 'a'), lookup.find(key, 'a'), lookup.find(key, 'a')]);
    expect(reads).toBe(1);
  });

  it('remembers a live answer for five seconds', async () => {
    await lookup.find(key);
    now = 4_999;
    await lookup.find(key);
    expect(reads).toBe(1);
    now = 5_000;
    await lookup.find(key);
    expect(reads).toBe(2);
  });

  it('remembers of one that is gone nothing about another one by its name', async () => {
    expect(await lookup.find(key, 'old')).toBeUndefined();
    live = record('new');
    expect(await lookup.find(key, 'old')).toBeUndefined();
    expect(reads).toBe(1);
    expect(await lookup.find(key, 'new')).toEqual(record('new'));
    expect(reads).toBe(2);
  });

  it('drops what it remembers at any event about the object', async () => {
    live = record('a', '1', { enabled: 'yes' });
    await lookup.find(key, 'a');
    store.upsert(record('a', '2'), false);
    live = record('a', '3');
    store.remove(key);
    expect(await lookup.find(key, 'a')).toEqual(record('a', '3'));
    expect(reads).toBe(2);
  });

  it('does not keep an answer that an event overtook', async () => {
    const opens: (() => void)[] = [];
    gate = new Promise((resolve) => {
      opens.push(resolve);
    });
    live = record('a', '1');
    const early = lookup.find(key, 'a');
    store.upsert(record('a', '2'), false);
    store.remove(key);
    opens.forEach((open) => open());
    expect(await early).toEqual(record('a', '1'));
    live = record('a', '3');
    expect(await lookup.find(key, 'a')).toEqual(record('a', '3'));
  });

  it('joins nobody to an answer that an event overtook', async () => {
    const opens: (() => void)[] = [];
    const hold = (): void => {
      gate = new Promise((resolve) => opens.push(resolve));
    };
    hold();
    live = record('a', '1');
    const early = lookup.find(key, 'a');
    store.upsert(record('a', '2'), false);
    store.remove(key);
    hold();
    live = record('a', '3', { enabled: 'no' });
    const late = lookup.find(key, 'a');
    opens[0]?.();
    expect(await early).toEqual(record('a', '1'));
    const later = lookup.find(key, 'a');
    opens[1]?.();
    expect(await late).toEqual(live);
    expect(await later).toEqual(live);
    expect(reads).toBe(2);
    await lookup.find(key, 'a');
    expect(reads).toBe(2);
  });

  it('remembers no failure', async () => {
    const failing = new Lookup({
      store,
      now: () => now,
      read: async () => {
        reads += 1;
        throw new Error('away');
      },
    });
    await expect(failing.find(key)).rejects.toThrow('away');
    await expect(failing.find(key)).rejects.toThrow('away');
    expect(reads).toBe(2);
  });
});
