import { afterEach, describe, expect, it } from '@jest/globals';
import { evict, type EvictionOutcome } from './eviction.ts';
import { type Answer, json, reset, ScriptedServer, silence, status } from './testing/scripted-server.ts';

let server: ScriptedServer;

async function outcome(script: Answer | readonly Answer[], fence?: () => boolean): Promise<EvictionOutcome> {
  server = await ScriptedServer.start(script);
  const pod = { namespace: 'team', name: 'web-1', uid: 'u1', resourceVersion: '7' };
  // Only silence is waited out; an answer may take its time on a busy machine.
  const deadlineMs = script === silence ? 300 : 30_000;
  return evict(server.client(), pod, { deadlineMs, ...(fence ? { fence } : {}) });
}

afterEach(() => server.close());

const pod = (uid: string): Answer => json({ metadata: { name: 'web-1', uid, resourceVersion: '8' } });

describe('evict', () => {
  it('sends one Eviction with its preconditions', async () => {
    expect(await outcome(json({}, 201))).toEqual({ kind: 'evicted' });
    expect(server.requests[0]).toMatchObject({ method: 'POST' });
    expect(server.requests[0]?.url.pathname).toBe('/api/v1/namespaces/team/pods/web-1/eviction');
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace: 'team', name: 'web-1' },
      deleteOptions: { preconditions: { uid: 'u1', resourceVersion: '7' } },
    });
  });

  it('is blocked by 429, with the wait that the server asks for', async () => {
    const answer = status(429, 'TooManyRequests', 'Cannot evict pod');
    expect(await outcome(answer)).toEqual({ kind: 'blocked', message: 'Cannot evict pod' });
    expect(server.requests).toHaveLength(1);
    await server.close();
    const later = json({ kind: 'Status', message: 'later' }, 429, { 'retry-after': '10' });
    expect(await outcome(later)).toEqual({ kind: 'blocked', message: 'later', retryAfterMs: 10_000 });
  });

  it('tells two budgets from any other 500', async () => {
    const message =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    expect(await outcome(status(500, '', message))).toEqual({ kind: 'tooManyBudgets', message });
    await server.close();
    expect(await outcome(status(500, 'InternalError', 'etcd'))).toMatchObject({
      kind: 'error',
      retryable: true,
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each<[string, EvictionOutcome['kind'], Answer | readonly Answer[]]>([
    ['404', 'gone', status(404, 'NotFound')],
    ['409 while another pod has the name', 'gone', [status(409, 'Conflict'), pod('u2')]],
    ['409 while no pod has the name', 'gone', [status(409, 'Conflict'), status(404, 'NotFound')]],
    ['409 while it is the same pod', 'conflict', [status(409, 'Conflict'), pod('u1')]],
    ['409 while nobody can tell', 'conflict', [status(409, 'Conflict'), reset]],
    ['403', 'forbidden', status(403, 'Forbidden')],
    ['422', 'error', status(422, 'Invalid')],
    ['a reset', 'error', reset],
    ['silence', 'error', silence],
  ])('%s means %s', async (_name, kind, script) => {
    expect((await outcome(script)).kind).toBe(kind);
  });

  it('says whether asking again helps', async () => {
    expect(await outcome(reset)).toMatchObject({ retryable: true });
    await server.close();
    expect(await outcome(status(422, 'Invalid'))).toMatchObject({ retryable: false });
  });

  it('is not sent through a closed fence', async () => {
    expect(await outcome(json({}), () => false)).toEqual({ kind: 'fenced' });
    expect(server.requests).toHaveLength(0);
  });
});
