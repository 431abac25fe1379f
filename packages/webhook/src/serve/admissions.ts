import { answerErrors, createApp, HttpError, type Logger, readJson } from '@spotalis/runtime';
import { parseDuration } from '@spotalis/units';
import type { Express, Request, Response } from 'express';
import { Deadline, decisionBudgetMs } from '../admission/deadline.ts';
import type { AdmissionHandler, AdmissionResult } from '../admission/handler.ts';
import { writeReview } from '../review/answer.ts';
import { readReview } from '../review/request.ts';

/** The path that a MutatingWebhookConfiguration must name. */
export const admissionPath = '/mutate';

/** nginx's status for a request whose caller did not wait for the answer. */
const CALLER_GONE = 499;

export interface AdmissionsOptions<R> {
  readonly handler: Pick<AdmissionHandler<R>, 'admit'>;
  readonly decisionTimeoutMs: number;
  readonly report: {
    answered(requestUid: string, result: AdmissionResult<R>, durationMs: number): void;
    failed(requestUid: string, error: unknown, durationMs: number): void;
  };
  /** controller_runtime_webhook_*. */
  readonly requests: { started(): void; finished(status: number, durationMs: number): void };
  readonly logger: Logger;
  readonly now: () => number;
}

/** The HTTP surface of admission: one route, and an answer to everything that is sent there. */
export function admissionsApp<R>(options: AdmissionsOptions<R>): Express {
  const app = createApp();
  // Not a route: Express spent 4% of the process's time on matching and dispatching this one.
  app.use((request, response, next) =>
    isAdmission(request) ? new Exchange(options, request, response).run() : next(),
  );
  answerErrors(app, options.logger);
  return app;
}

function isAdmission({ method, url }: Request): boolean {
  if (method !== 'POST' || !url.startsWith(admissionPath)) return false;
  return url.length === admissionPath.length || url[admissionPath.length] === '?';
}

/** One request and its answer. */
class Exchange<R> {
  readonly #options: AdmissionsOptions<R>;
  readonly #request: Request;
  readonly #response: Response;
  readonly #startedMs: number;
  readonly #deadline: Deadline;
  #result: AdmissionResult<R> | undefined;

  constructor(options: AdmissionsOptions<R>, request: Request, response: Response) {
    this.#options = options;
    this.#request = request;
    this.#response = response;
    this.#startedMs = options.now();
    this.#deadline = new Deadline(decisionBudgetMs(options.decisionTimeoutMs, callTimeoutMs(request.url)));
  }

  async run(): Promise<void> {
    this.#options.requests.started();
    this.#response.once('close', () => this.#closed());
    try {
      await this.#answer();
    } finally {
      this.#deadline.end();
    }
  }

  async #answer(): Promise<void> {
    const review = readReview(await readJson(this.#request));
    if (review.kind === 'unreadable') throw new HttpError(400, 'REVIEW_UNREADABLE', review.problem);
    if (review.kind === 'unsupported') {
      const { uid, apiVersion, problem } = review;
      this.#send(200, writeReview({ uid, apiVersion, warnings: [`spotalis: not placed: ${problem}`] }));
      return;
    }
    const { uid } = review.request;
    const { handler, report } = this.#options;
    try {
      const result = await handler.admit(review.request, this.#deadline);
      this.#result = result;
      // The caller went away while the decision was made.
      if (this.#deadline.abandoned) return void result.undo();
      this.#send(200, writeReview({ uid, patch: result.operations, warnings: result.warnings }));
      report.answered(uid, result, this.#elapsedMs());
    } catch (error) {
      // The caller went away: there is no one to answer.
      if (this.#deadline.abandoned) return;
      report.failed(uid, error, this.#elapsedMs());
      this.#send(500, writeReview({ uid, warnings: ['spotalis: not placed: an unexpected error'] }));
    }
  }

  #send(status: number, body: string): void {
    if (this.#response.destroyed || this.#response.headersSent) return;
    this.#response.writeHead(status, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    });
    this.#response.end(body);
  }

  /** The last event of every exchange, answered or not. */
  #closed(): void {
    const { statusCode, writableFinished } = this.#response;
    this.#options.requests.finished(writableFinished ? statusCode : CALLER_GONE, this.#elapsedMs());
    if (writableFinished) return;
    this.#deadline.abandon();
    void this.#result?.undo();
  }

  #elapsedMs(): number {
    return this.#options.now() - this.#startedMs;
  }
}

/** The API server says how long it waits in the URL: `?timeout=2s`. */
export function callTimeoutMs(url: string): number | undefined {
  const question = url.indexOf('?');
  const text = question < 0 ? null : new URLSearchParams(url.slice(question)).get('timeout');
  const timeoutMs = text === null ? null : parseDuration(text);
  return timeoutMs === null || timeoutMs <= 0 ? undefined : timeoutMs;
}
