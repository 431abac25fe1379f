import { afterEach, describe, expect, it } from '@jest/globals';
import type { RawObject } from '../object.ts';
import { resource } from '../resource.ts';
import { Store } from '../store.ts';
import { type Answer, ScriptedServer, status } from '../testing/scripted-server.ts';
import { ReflectorGroup } from './group.ts';

const stopping: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stopping.splice(0).toReversed()) await stop();
});

const object = (namespace: string, name: string): RawObject => ({
  metadata: { name, namespace, uid: `uid-${namespace}-${name}`, resourceVersion: '1' },
});

/** A list of these, in one stream that stays open or ends after it. */
function list(objects: readonly RawObject[], version: string, then: 'open' | 'end' = 'open'): Answer {
  const lines = [
    ...objects.map((each) => ({ type: 'ADDED', object: each })),
    {
      type: 'BOOKMARK',
      object: {
        metadata: { resourceVersion: version, annotations: { 'k8s.io/initial-events-end': 'true' } },
      },
    },
  ];
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), () => {
      if (then === 'end') response.end();
    });
  };
}

/** What is answered in each namespace, call by call; the last goes on. */
async function follow(
  answers: Readonly<Record<string, readonly Answer[]>>,
  namespaces: readonly string[],
  isAbsent?: (namespace: string) => boolean,
) {
  const asked: Record<string, string[]> = {};
  const server = await ScriptedServer.start((request, response) => {
    const [, namespace = ''] = /namespaces\/(\w+)\/pods/.exec(request.url.pathname) ?? [];
    const versions = (asked[namespace] ??= []);
    const script = answers[namespace] ?? [];
    const answer = script[Math.min(versions.length, script.length - 1)];
    versions.push(request.url.searchParams.get('resourceVersion') ?? 'none');
    answer?.(request, response);
  });
  const client = server.client();
  const store = new Store<RawObject>();
  const tombstones: string[] = [];
  store.subscribe((change) => {
    if (change.type === 'deleted' && change.tombstone) tombstones.push(change.object.metadata.name);
  });
  const listed: number[] = [];
  const group = new ReflectorGroup<RawObject, RawObject>({
    client,
    resource: resource('v1', 'pods', 'Pod'),
    namespaces,
    ...(isAbsent && { isAbsent }),
    prune: (raw) => raw,
    store,
    observer: { listed: ({ objects }) => listed.push(objects) },
    random: () => 0,
  });
  group.start();
  stopping.push(
    () => server.close(),
    () => client.transport.close(),
    () => group.stop(),
  );
  return { group, store, asked, listed, tombstones };
}

async function until(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + 5_000;
  while (!condition()) {
    if (performance.now() > endMs) throw new Error('condition not met within 5 s');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a group of reflectors', () => {
  it('puts the objects of its namespaces into one store, and asks for nothing else', async () => {
    const shop = [list([object('shop', 'a'), object('shop', 'b')], '5')];
    const { group, store, asked, listed } = await follow({ shop, bank: [list([object('bank', 'a')], '7')] }, [
      'shop',
      'bank',
      'shop',
    ]);
    await group.synced;
    expect(
      [...store.values()].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).toSorted(),
    ).toEqual(['bank/a', 'shop/a', 'shop/b']);
    expect(asked).toEqual({ shop: ['none'], bank: ['none'] });
    expect(listed.at(-1)).toBe(3);
    expect(group.hasSynced()).toBe(true);
    expect(group.lastEventAgeMs()).toBeLessThan(5_000);
  });

  it('asks once for everything where no namespace is named', async () => {
    const { group, asked, store } = await follow(
      { '': [list([object('shop', 'a'), object('bank', 'a')], '5')] },
      [],
    );
    await group.synced;
    expect(store.size).toBe(2);
    expect(asked).toEqual({ '': ['none'] });
  });

  it('has synced when each of them has', async () => {
    const { group, asked } = await follow({ shop: [list([], '5')], bank: [() => undefined] }, [
      'shop',
      'bank',
    ]);
    await until(() => asked['shop'] !== undefined && asked['bank'] !== undefined);
    expect(group.hasSynced()).toBe(false);
    expect(group.lastEventAgeMs()).toBeUndefined();
  });

  it('goes on in each namespace from the version it has of that one', async () => {
    const open = list([], '9');
    const { asked } = await follow(
      { shop: [list([], '5', 'end'), open], bank: [list([], '7', 'end'), open] },
      ['shop', 'bank'],
    );
    await until(() => asked['shop']?.[1] !== undefined && asked['bank']?.[1] !== undefined);
    expect([asked['shop']?.[1], asked['bank']?.[1]]).toEqual(['5', '7']);
  });

  it('drops what a later list of one namespace has no more, and nothing of the others', async () => {
    const shop = [
      list([object('shop', 'a'), object('shop', 'b')], '5', 'end'),
      status(410, 'Expired'),
      list([object('shop', 'b')], '8'),
    ];
    const { store, tombstones } = await follow({ shop, bank: [list([object('bank', 'a')], '7')] }, [
      'shop',
      'bank',
    ]);
    await until(() => tombstones.length > 0);
    expect(tombstones).toEqual(['a']);
    expect(
      [...store.values()].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).toSorted(),
    ).toEqual(['bank/a', 'shop/b']);
  });

  it('does not wait for a namespace that is not there, and follows it when it is', async () => {
    let isThere = false;
    const gone: Answer = (request, response) =>
      (isThere ? list([object('bank', 'a')], '7') : status(403, 'Forbidden'))(request, response);
    const { group, store } = await follow(
      { shop: [list([object('shop', 'a')], '5')], bank: [gone] },
      ['shop', 'bank'],
      (namespace) => namespace === 'bank' && !isThere,
    );
    await group.synced;
    expect(store.size).toBe(1);
    expect(group.lastEventAgeMs()).toBeDefined();
    isThere = true;
    await until(() => store.size === 2);
    expect(group.hasSynced()).toBe(true);
  });

  it('waits for one that is there and may not be listed', async () => {
    const { group, asked } = await follow(
      { shop: [list([], '5')], bank: [status(403, 'Forbidden')] },
      ['shop', 'bank'],
      () => false,
    );
    await until(() => (asked['bank']?.length ?? 0) > 1);
    expect(group.hasSynced()).toBe(false);
  });
});
