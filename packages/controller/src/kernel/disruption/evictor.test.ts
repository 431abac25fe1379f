import { describe, expect, it } from '@jest/globals';
import { ApiError } from '@spotalis/kube';
import { Evictor } from './evictor.ts';

const reference = { name: 'a', uid: 'a-uid', resourceVersion: '7' };
const live = { name: 'a', namespace: 'shop', uid: 'a-uid', resourceVersion: '7' };
const apiError = (status: number) => new ApiError({ status, body: { message: 'no' }, request: 'x' });

/** `read`: what the pod is when it is read; `answer`: what the eviction is met with. */
async function outcomeOf(read: object | Error, answer?: Error, mayWrite = () => true) {
  const calls: string[] = [];
  const bodies: unknown[] = [];
  const client = {
    get() {
      calls.push('get');
      return read instanceof Error ? Promise.reject(read) : Promise.resolve({ metadata: read });
    },
    create(_of: unknown, _place: unknown, body: unknown) {
      calls.push('evict');
      bodies.push(body);
      return answer === undefined ? Promise.resolve({}) : Promise.reject(answer);
    },
  };
  const outcome = await new Evictor(client as never, mayWrite).evict('shop', reference);
  return { kind: outcome.kind, calls, bodies };
}

describe('an eviction', () => {
  it('is sent right after the pod was read, and only for its UID', async () => {
    const { kind, calls, bodies } = await outcomeOf(live);
    expect({ kind, calls }).toEqual({ kind: 'evicted', calls: ['get', 'evict'] });
    expect(bodies[0]).toMatchObject({ deleteOptions: { preconditions: { uid: 'a-uid' } } });
  });

  it.each([
    ['is gone', apiError(404), 'gone'],
    ['is another one of the name', { ...live, uid: 'b-uid' }, 'gone'],
    ['is going', { ...live, deletionTimestamp: '2026-01-01T00:00:00Z' }, 'gone'],
    ['has changed', { ...live, resourceVersion: '8' }, 'stale'],
    ['cannot be read', apiError(503), 'unread'],
  ])('is not sent when the pod %s', async (_what, read, kind) => {
    expect(await outcomeOf(read)).toMatchObject({ kind, calls: ['get'] });
  });

  it('is not sent, and nothing is read, without the lease', async () => {
    expect(await outcomeOf(live, undefined, () => false)).toMatchObject({ kind: 'fenced', calls: [] });
  });

  it.each([
    [429, 'blocked'],
    [404, 'gone'],
    [409, 'conflict'],
    [403, 'forbidden'],
    [500, 'error'],
  ])('is met by %i as %s', async (status, kind) => {
    expect(await outcomeOf(live, apiError(status))).toMatchObject({ kind });
  });
});
