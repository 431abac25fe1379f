import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { RawObject } from '../object.ts';
import { resource } from '../resource.ts';
import { type Change, Store } from '../store.ts';
import { type Answer, json, ScriptedServer, type SeenRequest, status } from '../testing/scripted-server.ts';
import { Reflector, type ReflectorObserver, type ReflectorTiming } from './reflector.ts';

const pods = resource('v1', 'pods', 'Pod');
const stopping: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stopping.splice(0).toReversed()) {
    await stop();
  }
});

const object = (name: string, resourceVersion: string): RawObject => ({
  metadata: { name, namespace: 'n', uid: `uid-${name}`, resourceVersion },
});
const line = (type: string, what: unknown): string => `${JSON.stringify({ type, object: what })}\n`;
const initialEnd = (resourceVersion: string): string =>
  line('BOOKMARK', { metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } } });

/** Sends the lines, and then ends the stream, keeps it open, or cuts it. */
function stream(lines: readonly string[], then: 'end' | 'open' | 'cut' = 'open'): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    response.write(lines.join(''), () => finish(response, then));
  };
}

function finish(response: ServerResponse, then: 'end' | 'open' | 'cut'): void {
  if (then === 'end') {
    response.end();
  } else if (then === 'cut') {
    response.socket?.resetAndDestroy();
  }
}

const page = (version: string): Answer =>
  json({ metadata: { resourceVersion: version, continue: 'more' }, items: [object('old', '1')] });

interface Setup {
  readonly server: ScriptedServer;
  readonly reflector: Reflector<RawObject, RawObject>;
  readonly store: Store<RawObject>;
  readonly changes: string[];
  readonly log: string[];
}

async function follow(
  script: Answer | readonly Answer[],
  options: {
    timing?: Partial<ReflectorTiming>;
    prune?: (raw: RawObject) => RawObject | undefined;
    handler?: (change: Change<RawObject>) => void;
    fromNow?: boolean;
    confirmed?: (version: string | null) => Answer | undefined;
  } = {},
): Promise<Setup> {
  const server = await ScriptedServer.start(script, ({ url: { searchParams } }) =>
    searchParams.get('limit') === '1' && searchParams.has('resourceVersionMatch')
      ? (options.confirmed?.(searchParams.get('resourceVersion')) ?? page('999'))
      : undefined,
  );
  const log: string[] = [];
  const changes: string[] = [];
  const store = new Store<RawObject>({ onHandlerError: (error) => log.push(`handler ${error.message}`) });
  if (options.handler) {
    store.subscribe(options.handler);
  }
  store.subscribe((change) => {
    const mark = change.type === 'deleted' && change.tombstone ? 'tombstone' : change.type;
    changes.push(`${mark} ${change.object.metadata.name}@${change.object.metadata.resourceVersion}`);
  });
  const observer: ReflectorObserver = {
    listed: ({ by, objects }) => log.push(`listed ${objects} by ${by}`),
    watchEnded: (reason) => log.push(`ended ${reason}`),
    failed: (error, retryInMs) => log.push(`failed ${error.message} -> ${retryInMs}`),
    rejected: (error) => log.push(`rejected ${error.message}`),
  };
  const client = server.client();
  const reflector = new Reflector<RawObject, RawObject>({
    client,
    resource: pods,
    prune: options.prune ?? ((raw) => raw),
    store,
    observer,
    random: () => 0,
    ...(options.timing === undefined ? {} : { timing: options.timing }),
    ...(options.fromNow === undefined ? {} : { fromNow: options.fromNow }),
  });
  reflector.start();
  stopping.push(
    () => server.close(),
    () => client.transport.close(),
    () => reflector.stop(),
  );
  return { server, reflector, store, changes, log };
}

async function until(condition: () => boolean, show: () => unknown): Promise<void> {
  const endMs = performance.now() + 5_000;
  while (!condition()) {
    if (performance.now() > endMs) {
      throw new Error(`condition not met within 5 s: ${JSON.stringify(show())}`);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const versionOf = (request: SeenRequest | undefined): string | null | undefined =>
  request?.url.searchParams.get('resourceVersion');

describe('a streamed list', () => {
  it('asks for the initial events with bookmarks, and goes on with the changes in the same stream', async () => {
    const { server, reflector, changes } = await follow(
      stream([
        line('ADDED', object('a', '1')),
        line('ADDED', object('b', '2')),
        initialEnd('5'),
        line('MODIFIED', object('a', '6')),
        line('DELETED', object('b', '7')),
      ]),
    );
    await reflector.synced;
    await until(
      () => changes.length === 4,
      () => changes,
    );
    expect(changes).toEqual(['added a@1', 'added b@2', 'updated a@6', 'deleted b@7']);
    const query = Object.fromEntries(server.requests[0]?.url.searchParams ?? []);
    expect(query).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      timeoutSeconds: '300',
    });
    expect(server.requests).toHaveLength(1);
  });

  it('has not synced before its closing bookmark, whatever other bookmarks come', async () => {
    const { reflector, changes } = await follow(
      stream([line('ADDED', object('a', '1')), line('BOOKMARK', { metadata: { resourceVersion: '4' } })]),
    );
    await until(
      () => changes.length === 1,
      () => changes,
    );
    expect(reflector.hasSynced()).toBe(false);
  });

  it('that the server refuses is made in pages, for good', async () => {
    let lists = 0;
    const { server, reflector, store, log } = await follow((request, response) => {
      const { searchParams } = request.url;
      if (searchParams.has('sendInitialEvents')) {
        status(422, 'Invalid', 'sendInitialEvents is forbidden')(request, response);
      } else if (searchParams.has('watch')) {
        status(410, 'Expired')(request, response);
      } else {
        lists++;
        const token = searchParams.get('continue') === null ? 'more' : undefined;
        const item = object(token ? 'a' : 'b', '1');
        json({ metadata: { resourceVersion: '9', continue: token }, items: [item] })(request, response);
      }
    });
    await reflector.synced;
    await until(
      () => lists >= 4,
      () => log,
    );
    expect(store.size).toBe(2);
    expect(server.requests.filter(({ url }) => url.searchParams.has('sendInitialEvents'))).toHaveLength(1);
    expect(server.requests[1]?.url.searchParams.get('limit')).toBe('500');
  });

  it('whose closing bookmark does not come is made in pages', async () => {
    const { reflector, log } = await follow(
      (request, response) => {
        const { searchParams } = request.url;
        if (searchParams.has('sendInitialEvents')) {
          stream([line('ADDED', object('a', '1'))])(request, response);
        } else if (searchParams.has('watch')) {
          stream([])(request, response);
        } else {
          json({ metadata: { resourceVersion: '9' }, items: [object('a', '1')] })(request, response);
        }
      },
      { timing: { initialSilenceMs: 50 } },
    );
    await reflector.synced;
    expect(log[0]).toBe('ended silent');
    expect(log).toContain('listed 1 by pages');
  });

  it('that is cut in the middle is streamed again, and what it had is kept', async () => {
    const { reflector, changes, log } = await follow([
      stream([line('ADDED', object('a', '1'))], 'cut'),
      stream([line('ADDED', object('a', '1')), line('ADDED', object('b', '2')), initialEnd('3')]),
    ]);
    await reflector.synced;
    expect(changes).toEqual(['added a@1', 'added b@2']);
    expect(log).toContain('listed 2 by watch');
  });
});

describe('a watch', () => {
  const list = stream([line('ADDED', object('a', '1')), initialEnd('5')], 'end');

  it('that is closed silently goes on from the last version, without a list', async () => {
    const { server, changes, log } = await follow([
      list,
      stream([line('MODIFIED', object('a', '8'))], 'end'),
      stream([line('BOOKMARK', { metadata: { resourceVersion: '12' } })], 'end'),
      stream([line('MODIFIED', object('a', '13'))]),
    ]);
    await until(
      () => changes.length === 3,
      () => ({ changes, log }),
    );
    expect(server.requests.slice(1).map(versionOf)).toEqual(['5', '8', '12']);
    expect(log.filter((one) => one.startsWith('failed'))).toEqual([]);
  });

  it('that is reset in the middle of a line goes on from the last whole one', async () => {
    const { server, changes, log } = await follow([
      list,
      stream([line('MODIFIED', object('a', '8')), '{"type":"MODIFIED","obj'], 'cut'),
      stream([line('MODIFIED', object('a', '9'))]),
    ]);
    await until(
      () => changes.at(-1) === 'updated a@9',
      () => ({ changes, log }),
    );
    expect(versionOf(server.requests[2])).toBe('8');
  });

  it('that says nothing for too long is opened again from the last version', async () => {
    const { server, log } = await follow([list, stream([])], { timing: { inactivityMs: 60 } });
    await until(
      () => server.requests.length >= 3,
      () => log,
    );
    expect(log).toContain('ended silent');
    expect(server.requests.slice(1).map(versionOf)).toEqual(server.requests.slice(1).map(() => '5'));
  });

  it('that broke off lists again where the server has not reached its version: etcd was restored', async () => {
    const tooLarge = status(504, 'Timeout', 'Timeout: Too large resource version: 5, current: 3');
    const { server, changes, log } = await follow(
      [list, stream([line('ADDED', object('b', '2')), initialEnd('3')])],
      { confirmed: (version) => (version === '5' ? tooLarge : undefined) },
    );
    await until(
      () => changes.length === 3,
      () => ({ changes, log }),
    );
    expect(changes).toEqual(['added a@1', 'added b@2', 'tombstone a@1']);
    expect(versionOf(server.requests[1])).toBeNull();
  });

  it.each<[string, Answer]>([
    ['as the answer', status(410, 'Expired', 'too old resource version')],
    [
      'as an event',
      stream([line('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' })]),
    ],
  ])(
    'with a version that has expired lists again, and delivers what was missed (410 %s)',
    async (_name, gone) => {
      const { server, changes, log } = await follow([
        stream([line('ADDED', object('a', '1')), line('ADDED', object('b', '2')), initialEnd('5')], 'end'),
        gone,
        stream([line('ADDED', object('b', '7')), line('ADDED', object('c', '8')), initialEnd('9')]),
      ]);
      await until(
        () => changes.length === 5,
        () => ({ changes, log }),
      );
      expect(changes.slice(2)).toEqual(['updated b@7', 'added c@8', 'tombstone a@1']);
      expect(server.requests[2]?.url.searchParams.get('sendInitialEvents')).toBe('true');
      expect(versionOf(server.requests[2])).toBeNull();
      expect(log.filter((one) => one.startsWith('failed'))).toEqual([
        expect.stringMatching(/too old.* -> 0$/),
      ]);
    },
  );

  it('from now on takes nothing that was there before, and forgets all where it lost what came', async () => {
    const { server, changes, log } = await follow(
      [
        page('5'),
        stream([line('ADDED', object('a', '6'))], 'end'),
        status(410, 'Expired'),
        page('9'),
        stream([line('ADDED', object('b', '10'))]),
      ],
      { fromNow: true },
    );
    await until(
      () => changes.length === 3,
      () => ({ changes, log }),
    );
    expect(changes).toEqual(['added a@6', 'tombstone a@6', 'added b@10']);
    expect(server.requests.map(({ url }) => url.searchParams.get('limit'))).toEqual([
      '1',
      null,
      null,
      '1',
      null,
    ]);
    expect(server.requests.map(versionOf)).toEqual([null, '5', '6', null, '9']);
  });

  it('with an ERROR event of another kind backs off and goes on from the last version', async () => {
    const { server, changes, log } = await follow([
      list,
      stream([
        line('MODIFIED', object('a', '8')),
        line('ERROR', { kind: 'Status', code: 500, reason: 'InternalError', message: 'etcd went away' }),
      ]),
      stream([line('MODIFIED', object('a', '9'))]),
    ]);
    await until(
      () => changes.at(-1) === 'updated a@9',
      () => ({ changes, log }),
    );
    expect(versionOf(server.requests[2])).toBe('8');
    const failures = log.filter((one) => one.startsWith('failed'));
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatch(/etcd went away -> 800$/);
  });

  it('with a line that is not JSON backs off and goes on', async () => {
    const { changes, log } = await follow([
      list,
      stream(['<html>\n']),
      stream([line('MODIFIED', object('a', '9'))]),
    ]);
    await until(
      () => changes.at(-1) === 'updated a@9',
      () => ({ changes, log }),
    );
    expect(log).toContain('ended error');
  });

  it('that is refused waits at least as long as Retry-After says', async () => {
    const { log } = await follow([list, json({}, 429, { 'retry-after': '3' })]);
    await until(
      () => log.some((one) => one.startsWith('failed')),
      () => log,
    );
    expect(log.find((one) => one.startsWith('failed'))).toMatch(/-> 3000$/);
  });

  it('that ends at once and empty, again and again, does not become a busy loop', async () => {
    const { log } = await follow([list, stream([], 'end')]);
    await until(
      () => log.some((one) => one.startsWith('failed')),
      () => log,
    );
    expect(log.find((one) => one.startsWith('failed'))).toMatch(/ended at once and without an event -> 800$/);
  });

  it('survives a handler and a prune function that throw, and the others see everything', async () => {
    const { changes, log } = await follow(
      stream([
        line('ADDED', object('a', '1')),
        line('ADDED', object('bad', '2')),
        initialEnd('3'),
        line('MODIFIED', object('a', '4')),
      ]),
      {
        handler: () => {
          throw new Error('mine');
        },
        prune: (raw) => {
          if (raw.metadata.name === 'bad') {
            throw new TypeError('no spec');
          }
          return raw;
        },
      },
    );
    await until(
      () => changes.length === 2,
      () => ({ changes, log }),
    );
    expect(changes).toEqual(['added a@1', 'updated a@4']);
    expect(log.filter((one) => one !== 'listed 2 by watch')).toEqual([
      'handler mine',
      'rejected no spec',
      'handler mine',
    ]);
  });

  it('forgets an object that is not interesting any more', async () => {
    const { changes } = await follow(
      stream([line('ADDED', object('a', '1')), initialEnd('3'), line('MODIFIED', object('a', '4'))]),
      { prune: (raw) => (raw.metadata.resourceVersion === '1' ? raw : undefined) },
    );
    await until(
      () => changes.length === 2,
      () => changes,
    );
    expect(changes).toEqual(['added a@1', 'deleted a@1']);
  });
});

describe('a reflector', () => {
  it('tells the age of the last event, and stops in the middle of a stream', async () => {
    const { reflector } = await follow(stream([initialEnd('3')]));
    expect(reflector.lastEventAgeMs()).toBeUndefined();
    await reflector.synced;
    expect(reflector.lastEventAgeMs()).toBeLessThan(5_000);
    await reflector.stop();
  });

  it('stops while it waits for its next attempt', async () => {
    const { reflector, log } = await follow(status(500, 'InternalError'));
    await until(
      () => log.length > 0,
      () => log,
    );
    await reflector.stop();
    expect(reflector.hasSynced()).toBe(false);
  });
});
