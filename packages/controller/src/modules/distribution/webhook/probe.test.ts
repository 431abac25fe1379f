import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createAuthority, issueLeaf, type KeyPair } from '@spotalis/runtime';
import { type Health, WebhookProbe } from './probe.ts';

const validity = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 };
let authority: KeyPair;
let server: Server;
let asked: { path: string | undefined; body: { request: { dryRun: boolean; uid: string } } }[];
/** What is sent back; by default what a webhook says to a pod that is not its own. */
let answer: (uid: string) => { status: number; text: string };

beforeEach(async () => {
  authority = await createAuthority({ commonName: 'test', ...validity });
  const { cert, key } = await issueLeaf(authority, { names: ['localhost', '127.0.0.1'], ...validity });
  asked = [];
  answer = (uid) => ({ status: 200, text: JSON.stringify({ response: { uid, allowed: true } }) });
  server = createServer({ cert, key }, (incoming, response) => {
    let text = '';
    incoming.on('data', (piece) => (text += piece));
    incoming.on('end', () => {
      const body = JSON.parse(text);
      asked.push({ path: incoming.url, body });
      const { status, text: out } = answer(body.request.uid);
      response.writeHead(status).end(out);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

function probeOf(configuration: unknown, endpoints: unknown = []) {
  const changes: Health['kind'][] = [];
  const client = {
    get: () =>
      configuration instanceof Error ? Promise.reject(configuration) : Promise.resolve(configuration),
    list: () => Promise.resolve({ items: endpoints, resourceVersion: '1' }),
  };
  const probe = new WebhookProbe({
    client: client as never,
    configurationName: 'spotalis',
    onChange: ({ kind }) => changes.push(kind),
  });
  return { probe, changes };
}

const registered = (clientConfig: object) => ({ webhooks: [{ name: 'pods.spotalis.io', clientConfig }] });
const atUrl = (ca = authority) =>
  registered({
    url: `https://localhost:${(server.address() as AddressInfo).port}/mutate`,
    caBundle: Buffer.from(ca.cert).toString('base64'),
  });

describe('the question whether the webhook serves', () => {
  it('is answered by asking it a review that changes nothing', async () => {
    const { probe, changes } = probeOf(atUrl());
    expect(await probe.ask()).toEqual({ kind: 'serving' });
    await probe.ask();
    expect(changes).toEqual(['serving']);
    expect(asked[0]).toMatchObject({ path: '/mutate', body: { request: { dryRun: true } } });
  });

  it.each([
    { order: 'in the order of the questions', first: 0, changes: ['serving', 'notServing'] },
    { order: 'the other way around', first: 1, changes: [] },
  ])('is told by the latest question when several are answered $order', async ({ first, changes: told }) => {
    const waiting: ((configuration: unknown) => void)[] = [];
    const changes: Health['kind'][] = [];
    const get = (): Promise<unknown> => new Promise((resolve) => waiting.push(resolve));
    const probe = new WebhookProbe({
      client: { get } as never,
      configurationName: 'spotalis',
      onChange: ({ kind }) => changes.push(kind),
    });
    const questions = [probe.ask(), probe.ask()];
    const answers = [atUrl(), { webhooks: [] }];
    for (const index of [first, 1 - first]) {
      waiting[index]?.(answers[index]);
      await questions[index];
    }
    expect(probe.health).toEqual({ kind: 'notServing', detail: expect.stringContaining('names no webhook') });
    expect(changes).toEqual(told);
  });

  it('is no until it was asked', () => {
    expect(probeOf(atUrl()).probe.health.kind).toBe('notServing');
  });

  it('is no with an authority that has not signed its certificate', async () => {
    const other = await createAuthority({ commonName: 'other', ...validity });
    const health = await probeOf(atUrl(other)).probe.ask();
    expect(health).toMatchObject({
      kind: 'notServing',
      detail: expect.stringMatching(/certificate|signature/),
    });
    expect(asked).toEqual([]);
  });

  it.each([
    ['an error', () => ({ status: 500, text: '' }), /answered 500/],
    [
      'a refusal',
      (uid: string) => ({ status: 200, text: `{"response":{"uid":"${uid}"}}` }),
      /did not answer/,
    ],
    ['something else', () => ({ status: 200, text: '{}' }), /did not answer/],
    ['no JSON', () => ({ status: 200, text: '<html>' }), /JSON/],
  ])('is no when it answers with %s', async (_what, says, detail) => {
    answer = says;
    expect(await probeOf(atUrl()).probe.ask()).toEqual({
      kind: 'notServing',
      detail: expect.stringMatching(detail),
    });
  });

  it.each([
    ['is not registered', new Error('not found'), /not found/],
    ['is registered without a webhook', { webhooks: [] }, /names no webhook/],
    ['has no address', registered({}), /neither a url nor a service/],
    ['cannot be reached', registered({ url: 'https://127.0.0.1:1/mutate' }), /ECONNREFUSED/],
  ])('is no when it %s', async (_what, configuration, detail) => {
    expect(await probeOf(configuration).probe.ask()).toMatchObject({
      kind: 'notServing',
      detail: expect.stringMatching(detail),
    });
  });

  it('is no behind a Service without a ready endpoint', async () => {
    const service = registered({ service: { namespace: 'spotalis-system', name: 'webhook' } });
    const endpoints = [{ endpoints: [{ conditions: { ready: false } }] }];
    expect(await probeOf(service, endpoints).probe.ask()).toEqual({
      kind: 'notServing',
      detail: 'the Service spotalis-system/webhook has no ready endpoint',
    });
  });
});
