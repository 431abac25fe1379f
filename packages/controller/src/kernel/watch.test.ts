import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ApiError, type KubeObject, type RawObject, resource } from '@spotalis/kube';
import { Watch, Watched } from './watch.ts';

const configMaps = new Watch({
  resource: resource('v1', 'configmaps', 'ConfigMap'),
  prune: ({ metadata }: RawObject): KubeObject => ({ metadata }),
});

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
});

afterEach(() => {
  jest.useRealTimers();
});

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** An API server that answers lists with a status, or with one ConfigMap. */
function watching(status: number | 'fine') {
  const server = { status, lists: 0 };
  const changes: string[] = [];
  const refuse = (code: number): ApiError => new ApiError({ status: code, body: {}, request: 'GET /x' });
  const client = {
    watch: (
      _of: unknown,
      { resourceVersion }: { resourceVersion?: string },
      { signal }: { signal: AbortSignal },
    ) =>
      new Promise((_resolve, reject) => {
        // It streams no lists, and nothing ever changes.
        if (resourceVersion === undefined) reject(refuse(400));
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      }),
    async *pages() {
      server.lists++;
      if (server.status !== 'fine') throw refuse(server.status);
      const metadata = { name: 'one', namespace: 'shop', uid: 'one-uid', resourceVersion: '1' };
      yield { items: [{ metadata }], resourceVersion: '1' };
    },
  };
  const watched = new Watched([configMaps], {
    client: client as never,
    observer: () => ({}),
    onHandlerError: () => undefined,
    onChange: (unavailable) => void changes.push(unavailable?.reason ?? 'Available'),
  });
  return { server, changes, watched };
}

describe('what a module watches for itself', () => {
  it('is there when it has been listed', async () => {
    const { watched, changes } = watching('fine');
    expect(watched.isAvailable).toBe(false);
    watched.start();
    await settle();
    expect(watched.isAvailable).toBe(true);
    expect(configMaps.storeOf(watched).get('shop/one')).toBeDefined();
    expect(changes).toEqual(['Available']);
    await watched.stop();
  });

  it.each([
    [404, 'CRDMissing'],
    [403, 'Forbidden'],
  ])('is unavailable after a %i: %s, and is tried again every minute', async (status, reason) => {
    const { watched, server, changes } = watching(status);
    watched.start();
    await settle();
    expect(watched.unavailable).toEqual({ reason, resource: 'configmaps' });
    expect(server.lists).toBe(1);
    await jest.advanceTimersByTimeAsync(59_999);
    await settle();
    expect(server.lists).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    await settle();
    expect(server.lists).toBe(2);
    server.status = 'fine';
    await jest.advanceTimersByTimeAsync(60_000);
    await settle();
    expect(watched.isAvailable).toBe(true);
    expect(changes).toEqual([reason, 'Available']);
    await watched.stop();
  });
});
