import { createServer, request as plainRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLogger, Metrics, webhookMetrics } from '@spotalis/runtime';
import request from 'supertest';
import type { AdmissionHandler } from '../admission/handler.ts';
import { AdmissionReport } from '../report/admissions.ts';
import { admissionMetrics } from '../report/metrics.ts';
import { aResult } from '../testing/result.ts';
import { openShop, podOf, reviewOf } from '../testing/shop.ts';
import { managedAdmission } from '../testing/admission.ts';
import { FakeApi } from '../testing/fake-api.ts';
import type { Step } from '../admission/step.ts';
import type { DistributionRecord } from '../steps/distribution/record.ts';
import { admissionPath, admissionsApp, callTimeoutMs } from './admissions.ts';

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

async function serve(
  admit: AdmissionHandler<DistributionRecord>['admit'],
): Promise<{ url: string; metrics: Metrics }> {
  const metrics = new Metrics();
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
  const logger = createLogger({ service: 'test', level: 'error', format: 'json', stream });
  const app = admissionsApp({
    handler: { admit },
    decisionTimeoutMs: 1_000,
    report: new AdmissionReport({ metrics: admissionMetrics(metrics), logger }),
    requests: webhookMetrics(metrics).observer('pods'),
    logger,
    now: () => performance.now(),
  });
  const listening = createServer(app);
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}`, metrics };
}

describe('an exchange', () => {
  it('answers a fault of this program with 500 and the UID, and counts it', async () => {
    const { url, metrics } = await serve(async () => {
      throw new TypeError('unexpected');
    });
    const answer = await request(url).post(admissionPath).send(reviewOf('u', {}));
    expect(answer.status).toBe(500);
    expect(answer.body.response).toMatchObject({ uid: 'u', allowed: true });
    const page = await text(metrics.page());
    expect(page).toContain('result="failed",capacity_type="none",reason="error"} 1');
    expect(page).toContain('controller_runtime_webhook_requests_total{webhook="pods",code="500"} 1');
    expect(page).toContain('controller_runtime_webhook_requests_in_flight{webhook="pods"} 0');
  });

  it('answers in time with what stands when a step never ends', async () => {
    const hung: Step<never> = { name: 'hung', writes: [], decide: () => new Promise(() => undefined) };
    const { handler } = managedAdmission({}, [hung]);
    const { url, metrics } = await serve((review, deadline) => handler.admit(review, deadline));
    const pod = podOf(openShop(new FakeApi()));
    const { status, body } = await request(url).post(`${admissionPath}?timeout=1s`).send(reviewOf('u', pod));
    expect(status).toBe(200);
    expect(Buffer.from(body.response.patch, 'base64').toString()).toContain('capacity-type');
    expect(body.response.warnings).toEqual([expect.stringContaining('hung')]);
    const page = await text(metrics.page());
    expect(page).toContain('result="failed",capacity_type="none",reason="error"} 1');
    expect(page).toMatch(/result="steered",capacity_type="[a-z-]+",reason="[a-z-]+"\} 1\n/);
  });

  it('counts an admission whose caller gave up as 499', async () => {
    let giveUp: () => void = () => undefined;
    const { url, metrics } = await serve(async (_, deadline) => {
      giveUp();
      return deadline.within(new Promise<never>(() => undefined));
    });
    const call = plainRequest(`${url}${admissionPath}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    call.on('error', () => undefined);
    giveUp = () => call.destroy();
    const ended = new Promise<void>((resolve) => {
      server?.on('request', (_, response) => response.once('close', () => resolve()));
    });
    call.end(JSON.stringify(reviewOf('u', {})));
    await ended;
    const page = await text(metrics.page());
    expect(page).toContain('controller_runtime_webhook_requests_total{webhook="pods",code="499"} 1');
    expect(page).toContain('controller_runtime_webhook_requests_total{webhook="pods",code="200"} 0');
  });

  it('tells the decision at once that the caller went away', async () => {
    const abandoned = new Promise<boolean>((resolve) => {
      void serve(async (_, deadline) => {
        call.destroy();
        try {
          await deadline.within(new Promise(() => undefined));
        } catch (error) {
          resolve(deadline.abandoned);
          throw error;
        }
        return aResult();
      }).then(({ url }) => send(url));
    });
    let call: ReturnType<typeof plainRequest>;
    function send(url: string): void {
      call = plainRequest(`${url}${admissionPath}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      call.on('error', () => undefined);
      call.end(JSON.stringify(reviewOf('u', {})));
    }
    expect(await abandoned).toBe(true);
  });

  it('undoes what was taken when the answer could not be delivered', async () => {
    const undone = new Promise<string>((resolve) => {
      const result = aResult({ undo: async () => resolve('undone') });
      void serve(async (_, deadline) => {
        call.destroy();
        // Not until the server knows that the caller is gone.
        await deadline.within(new Promise(() => undefined)).catch(() => undefined);
        return result;
      }).then(({ url }) => send(url));
    });
    let call: ReturnType<typeof plainRequest>;
    function send(url: string): void {
      call = plainRequest(`${url}${admissionPath}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      });
      call.on('error', () => undefined);
      call.end(JSON.stringify(reviewOf('u', {})));
    }
    expect(await undone).toBe('undone');
  });
});

describe('the timeout of a call', () => {
  it.each([
    ['/mutate?timeout=2s', 2_000],
    ['/mutate?a=b&timeout=1500ms', 1_500],
    ['/mutate', undefined],
    ['/mutate?timeout=', undefined],
    ['/mutate?timeout=soon', undefined],
    ['/mutate?timeout=0s', undefined],
  ])('of %s is %p', (url, expected) => {
    expect(callTimeoutMs(url)).toBe(expected);
  });
});
