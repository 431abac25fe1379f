import { afterEach, describe, expect, it } from '@jest/globals';
import { resizePod, type ResizeOutcome } from './resize.ts';
import { type Answer, json, reset, ScriptedServer, silence, status } from './testing/scripted-server.ts';

let server: ScriptedServer;

async function outcome(script: Answer | readonly Answer[], fence?: () => boolean): Promise<ResizeOutcome> {
  server = await ScriptedServer.start(script);
  const resize = {
    namespace: 'team',
    name: 'web-1',
    uid: 'u1',
    resourceVersion: '7',
    containers: [{ name: 'app', resources: { requests: { cpu: '200m' }, limits: { cpu: '1' } } }],
    initContainers: [{ name: 'proxy', resources: { requests: { cpu: '10m' } } }],
    fieldManager: 'spotalis-rightsizing',
  };
  // Only silence is waited out; an answer may take its time on a busy machine.
  const deadlineMs = script === silence ? 300 : 30_000;
  return resizePod(server.client(), resize, { deadlineMs, ...(fence ? { fence } : {}) });
}

afterEach(() => server.close());

const pod = (uid: string): Answer => json({ metadata: { name: 'web-1', uid, resourceVersion: '8' } });
const no = (message: string): Answer => status(403, 'Forbidden', `pods "web-1" is forbidden: ${message}`);

describe('resizePod', () => {
  it('sends one patch for all containers, with its preconditions and its field manager', async () => {
    expect(await outcome(pod('u1'))).toEqual({
      kind: 'resized',
      pod: { metadata: { name: 'web-1', uid: 'u1', resourceVersion: '8' } },
    });
    const [sent] = server.requests;
    expect(sent).toMatchObject({
      method: 'PATCH',
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
    });
    expect(sent?.url.pathname).toBe('/api/v1/namespaces/team/pods/web-1/resize');
    expect(sent?.url.search).toBe('?fieldManager=spotalis-rightsizing');
    expect(JSON.parse(sent?.body ?? '')).toEqual({
      metadata: { uid: 'u1', resourceVersion: '7' },
      spec: {
        containers: [{ name: 'app', resources: { requests: { cpu: '200m' }, limits: { cpu: '1' } } }],
        initContainers: [{ name: 'proxy', resources: { requests: { cpu: '10m' } } }],
      },
    });
  });

  it.each<[string, object, Answer | readonly Answer[]]>([
    ['409 while it is the same pod', { kind: 'stale' }, [status(409, 'Conflict'), pod('u1')]],
    ['409 while nobody can tell', { kind: 'stale' }, [status(409, 'Conflict'), reset]],
    ['409 while another pod has the name', { kind: 'gone' }, [status(409, 'Conflict'), pod('u2')]],
    ['404 while no pod has the name', { kind: 'gone' }, status(404, 'NotFound')],
    ['404 while the pod is there', { kind: 'unsupported' }, [status(404, 'NotFound'), pod('u1')]],
    [
      '403 for want of a right',
      { kind: 'forbidden' },
      no('User "u" cannot patch resource "pods/resize" in API group ""'),
    ],
    [
      '403 of a quota',
      { kind: 'refused', by: 'quota' },
      no('exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=1, limited: requests.cpu=1'),
    ],
    [
      '403 of a LimitRange',
      { kind: 'refused', by: 'limitRange' },
      no('[maximum cpu usage per Container is 1, but limit is 2]'),
    ],
    [
      '403 of a ratio',
      { kind: 'refused', by: 'limitRange' },
      no('cpu max limit to request ratio per Container is 2, but provided ratio is 4.0'),
    ],
    [
      '403 of a node',
      { kind: 'refused', by: 'node' },
      status(403, 'Forbidden', 'node', { details: { causes: [{ reason: 'NodeCapacity' }] } }),
    ],
    ['403 of anybody else', { kind: 'refused', by: 'admission' }, no('not today')],
    [
      '422 for the UID',
      { kind: 'gone' },
      status(422, 'Invalid', 'uid', { details: { causes: [{ field: 'metadata.uid' }] } }),
    ],
    ['422', { kind: 'refused', by: 'validation', message: 'Invalid' }, status(422, 'Invalid')],
    [
      '400 of a webhook',
      { kind: 'refused', by: 'admission' },
      status(400, 'BadRequest', 'admission webhook "a.b" denied the request: no'),
    ],
    ['400', { kind: 'error', retryable: false }, status(400, 'BadRequest')],
    ['a reset', { kind: 'error', retryable: true }, reset],
    ['silence', { kind: 'error', retryable: true }, silence],
  ])('%s means %j', async (_name, expected, script) => {
    expect(await outcome(script)).toMatchObject(expected);
  });

  it('is sent once, also to an overloaded server, and says when to ask again', async () => {
    const answer = json({ kind: 'Status', message: 'later' }, 429, { 'retry-after': '10' });
    expect(await outcome(answer)).toMatchObject({ kind: 'error', retryable: true, retryAfterMs: 10_000 });
    expect(server.requests).toHaveLength(1);
  });

  it('is not sent through a closed fence', async () => {
    expect(await outcome(json({}), () => false)).toEqual({ kind: 'fenced' });
    expect(server.requests).toHaveLength(0);
  });
});
