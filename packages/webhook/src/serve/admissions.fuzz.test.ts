import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger, Metrics, webhookMetrics } from '@spotalis/runtime';
import * as fc from 'fast-check';
import request from 'supertest';
import { AdmissionReport } from '../report/admissions.ts';
import { admissionMetrics } from '../report/metrics.ts';
import { managedAdmission } from '../testing/admission.ts';
import { admissionPath, admissionsApp } from './admissions.ts';

const runs = { numRuns: Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000) };

const fixture: object = JSON.parse(
  readFileSync(new URL('../review/fixtures/replicaset-pod.json', import.meta.url), 'utf8'),
);

/** Every pod that gets through the gate is of one managed Deployment, so that all of the walk is under test. */
function serverUnderTest(): Server {
  const { handler } = managedAdmission();
  const metrics = new Metrics();
  const logger = createLogger({
    service: 'test',
    level: 'error',
    format: 'json',
    stream: new Writable({ write: (_, __, done) => done() }),
  });
  const app = admissionsApp({
    handler,
    decisionTimeoutMs: 1_000,
    report: new AdmissionReport({ metrics: admissionMetrics(metrics), logger }),
    requests: webhookMetrics(metrics).observer('pods'),
    logger,
    now: () => performance.now(),
  });
  return createServer(app);
}

let server: Server;
let url: string;

beforeAll(async () => {
  server = serverUnderTest();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** What is wrong with the answer: it has to be a 4xx, or a well-formed review with the UID that was sent. */
async function faultOf(body: string | Buffer, uid: string | undefined): Promise<string | undefined> {
  const answer = await request(url).post(admissionPath).set('content-type', 'application/json').send(body);
  const { status, text } = answer;
  if (status >= 400 && status < 500) {
    return typeof answer.body.code === 'string' ? undefined : `a ${status} without a code: ${text}`;
  }
  const { kind, response } = answer.body;
  if (status !== 200 || kind !== 'AdmissionReview' || response?.allowed !== true) return `${status}: ${text}`;
  if (response.uid !== uid) return `UID ${response.uid} for ${uid}`;
  if (response.patch === undefined) return undefined;
  const patch: unknown = JSON.parse(Buffer.from(response.patch, 'base64').toString());
  return Array.isArray(patch) ? undefined : `a patch that is none: ${JSON.stringify(patch)}`;
}

/** Every place in a JSON value, as the keys that lead there. */
function placesIn(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...path, key]))];
}

function withValueAt(value: unknown, [key, ...rest]: readonly string[], put: unknown): unknown {
  if (key === undefined) return put;
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? withValueAt(item, rest, put) : item));
  return { ...(value as object), [key]: withValueAt((value as Record<string, unknown>)[key], rest, put) };
}

const uidOf = (body: unknown): string | undefined => {
  const uid = (body as { request?: { uid?: unknown } } | null)?.request?.uid;
  return typeof uid === 'string' ? uid : undefined;
};

describe('whatever is sent', () => {
  it('answers any JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (text) => {
        expect(await faultOf(text, uidOf(JSON.parse(text)))).toBeUndefined();
      }),
      runs,
    );
  });

  it('answers a review in which any one place holds something else', async () => {
    const places = placesIn(fixture);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), fc.jsonValue(), async (place, put) => {
        const body = withValueAt(fixture, place, put);
        expect(await faultOf(JSON.stringify(body), uidOf(body))).toBeUndefined();
      }),
      runs,
    );
  });

  it('answers a review that was cut off', async () => {
    const text = JSON.stringify(fixture);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: text.length - 1 }), async (length) => {
        expect(await faultOf(text.slice(0, length), undefined)).toBeUndefined();
      }),
      runs,
    );
  });

  it('answers bytes that are no text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        expect(await faultOf(Buffer.from(bytes), undefined)).toBeUndefined();
      }),
      runs,
    );
  });

  it('answers a pod that is nested a hundred thousand deep', async () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const body = JSON.stringify(fixture).replace('"containers":', `"deep":${deep},"containers":`);
    expect(await faultOf(body, uidOf(fixture))).toBeUndefined();
  });

  it('refuses a body above 7 MiB', async () => {
    const body = JSON.stringify({ ...fixture, filler: 'x'.repeat(8 * 1024 * 1024) });
    const answer = await request(url).post(admissionPath).set('content-type', 'application/json').send(body);
    expect(answer.status).toBe(413);
  });

  it('refuses another content type and other routes', async () => {
    expect((await request(url).post(admissionPath).set('content-type', 'text/plain').send('x')).status).toBe(
      415,
    );
    expect((await request(url).get(admissionPath)).status).toBe(404);
    expect((await request(url).post('/')).status).toBe(404);
  });
});
