import { afterEach, describe, expect, it } from '@jest/globals';
import { type Answer, json, reset, ScriptedServer, silence, status } from '../testing/scripted-server.ts';
import { EventRecorder, type RecordedEvent, type RecorderOptions } from './recorder.ts';

const running: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of running.splice(0).toReversed()) {
    await close();
  }
});

async function record(
  script: Answer | readonly Answer[],
  more: Partial<RecorderOptions> = {},
): Promise<{ server: ScriptedServer; recorder: EventRecorder; dropped: string[] }> {
  const server = await ScriptedServer.start(script);
  const client = server.client();
  const dropped: string[] = [];
  const recorder = new EventRecorder({
    client,
    controller: 'example.com/controller',
    instance: 'controller-0',
    onDropped: (why, event, error) => dropped.push(`${why} ${event.reason}${error ? ` ${error.name}` : ''}`),
    ...more,
  });
  running.push(
    () => server.close(),
    () => client.transport.close(),
  );
  return { server, recorder, dropped };
}

const event = (more: Partial<RecordedEvent> = {}): RecordedEvent => ({
  regarding: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'team', name: 'web', uid: 'u1' },
  type: 'Warning',
  reason: 'TooManyBudgets',
  action: 'Move',
  note: 'two PDBs select the pod',
  ...more,
});

describe('EventRecorder', () => {
  it('writes an Event into the namespace of its object', async () => {
    const { server, recorder } = await record(json({}));
    recorder.record(event());
    await recorder.stop(1_000);
    expect(server.requests[0]?.url.pathname).toBe('/apis/events.k8s.io/v1/namespaces/team/events');
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({
      metadata: { namespace: 'team', name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) },
      eventTime: expect.stringMatching(/\.\d{6}Z$/),
      reportingController: 'example.com/controller',
      reportingInstance: 'controller-0',
      type: 'Warning',
      reason: 'TooManyBudgets',
      action: 'Move',
      note: 'two PDBs select the pod',
      regarding: { kind: 'Deployment', name: 'web', uid: 'u1' },
    });
  });

  it('puts Events of objects without a namespace into default', async () => {
    const { server, recorder } = await record(json({}));
    recorder.record(event({ regarding: { apiVersion: 'v1', kind: 'Namespace', name: 'team' } }));
    await recorder.stop(1_000);
    expect(server.requests[0]?.url.pathname).toContain('/namespaces/default/');
  });

  it('makes a series of repetitions: one write for a whole storm', async () => {
    const { server, recorder } = await record(json({}));
    recorder.record(event());
    await recorder.stop(1_000);
    for (let i = 0; i < 50; i++) {
      recorder.record(event());
    }
    await recorder.stop(1_000);
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
    expect(JSON.parse(server.requests[1]?.body ?? '')).toMatchObject({ series: { count: 51 } });
  });

  it('starts a new series after six quiet minutes', async () => {
    let nowMs = 0;
    const { server, recorder } = await record(json({}), { now: () => nowMs });
    recorder.record(event());
    await recorder.stop(1_000);
    nowMs = 6 * 60_000;
    recorder.record(event());
    await recorder.stop(1_000);
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'POST']);
  });

  it('writes the series as a new Event when the server has forgotten the first', async () => {
    const { server, recorder } = await record([json({}), status(404, 'NotFound'), json({})]);
    recorder.record(event());
    await recorder.stop(1_000);
    recorder.record(event());
    await recorder.stop(1_000);
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
    expect(JSON.parse(server.requests[2]?.body ?? '')).toMatchObject({ series: { count: 2 } });
  });

  it('limits what one object may have for one reason, whatever the notes are', async () => {
    const { server, recorder, dropped } = await record(json({}));
    for (let i = 0; i < 40; i++) {
      recorder.record(event({ note: `attempt ${i}` }));
    }
    await recorder.stop(5_000);
    expect(server.requests).toHaveLength(25);
    expect(dropped).toHaveLength(15);
    expect(dropped[0]).toBe('limited TooManyBudgets');
    recorder.record(event({ reason: 'Ended' }));
    expect(dropped).toHaveLength(15);
  });

  it('holds no more than 1,000 while the server does not answer, and neither throws nor waits', async () => {
    const { recorder, dropped } = await record(silence);
    for (let i = 0; i < 1_100; i++) {
      recorder.record(event({ regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'n', name: `p${i}` } }));
    }
    expect(dropped.filter((one) => one.startsWith('full'))).toHaveLength(100);
    const startedMs = performance.now();
    await recorder.stop(50);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });

  it('takes a name that exists already for its own first write, whose answer was lost', async () => {
    const { recorder, dropped } = await record(status(409, 'AlreadyExists'));
    recorder.record(event());
    await recorder.stop(1_000);
    expect(dropped).toEqual([]);
  });

  it('reports what the server would not take, and writes the next', async () => {
    const { server, recorder, dropped } = await record([status(403, 'Forbidden'), reset, json({})]);
    recorder.record(event());
    recorder.record(event({ reason: 'Second' }));
    recorder.record(event({ reason: 'Third' }));
    await recorder.stop(5_000);
    expect(dropped).toEqual(['failed TooManyBudgets ApiError', 'failed Second ConnectionError']);
    expect(server.requests).toHaveLength(3);
  });

  it('cuts a note at 1 kB without breaking a character', async () => {
    const { server, recorder } = await record(json({}));
    recorder.record(event({ note: 'ü'.repeat(600) }));
    await recorder.stop(1_000);
    const { note }: { note: string } = JSON.parse(server.requests[0]?.body ?? '');
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024);
    expect(note).toMatch(/^ü{500,}…$/);
  });
});
