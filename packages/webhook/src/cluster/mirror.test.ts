import { describe, expect, it } from '@jest/globals';
import { AbortedError, resource } from '@spotalis/kube';
import { Mirror } from './mirror.ts';

describe('a mirror', () => {
  it('does not hold up a stop while the API server gives no first list', async () => {
    const silent = {
      watch: (_of: unknown, _query: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new AbortedError('GET')), { once: true });
        }),
    };
    const mirror = new Mirror({
      client: silent as never,
      resource: resource('v1', 'namespaces', 'Namespace'),
      namespaces: [],
      prune: (raw) => raw,
    });
    const stopping = new AbortController();
    const started = mirror.start({ signal: stopping.signal, fail: () => undefined });
    stopping.abort();
    await expect(started).rejects.toThrow('told to stop');
    await mirror.stop();
    expect(mirror.hasSynced()).toBe(false);
  });
});
