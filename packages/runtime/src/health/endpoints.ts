import { pipeline } from 'node:stream/promises';
import type { Express } from 'express';
import { reasonOf } from '../files/reason.ts';
import { answerErrors, createApp } from '../http/app.ts';
import type { Readiness } from '../lifecycle/readiness.ts';
import type { Logger } from '../logging/logger.ts';
import type { EventLoop } from './event-loop.ts';

/** /healthz tells whether a restart would help, /readyz whether to send work here. Both list checks with ?verbose. */
export function healthApp(eventLoop: EventLoop, readiness: Readiness, logger: Logger): Express {
  const app = createApp();
  app.get('/healthz', (request, response) => {
    const { alive, lagMs } = eventLoop;
    const lines = [`${alive ? '[+]' : '[-]'} event-loop: ${lagMs} ms late`];
    response
      .status(alive ? 200 : 503)
      .type('text/plain')
      .send(report(alive, lines, isVerbose(request.url)));
  });
  app.get('/readyz', (request, response) => {
    const checks = [...readiness.check()];
    const ready = checks.every(([, { ok }]) => ok);
    const lines = checks.map(([name, check]) => {
      const why = check.ok ? check.note : check.reason;
      return `${check.ok ? '[+]' : '[-]'} ${name}${why === undefined ? '' : `: ${why}`}`;
    });
    response
      .status(ready ? 200 : 503)
      .type('text/plain')
      .send(report(ready, lines, isVerbose(request.url)));
  });
  answerErrors(app, logger);
  return app;
}

/** Anything that can write itself in the exposition format of Prometheus. */
export interface Exposition {
  readonly contentType: string;
  page(): AsyncIterable<string | Buffer>;
}

export function metricsApp(exposition: Exposition, logger: Logger): Express {
  const app = createApp();
  app.get('/metrics', async (_request, response) => {
    response.set('Content-Type', exposition.contentType);
    try {
      await pipeline(exposition.page(), response);
    } catch (error) {
      // Whoever asked may have gone.
      if (reasonOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
    }
  });
  answerErrors(app, logger);
  return app;
}

/** What a service knows at this moment, as JSON. It may name workloads, so it is served on 127.0.0.1 only. */
export function debugApp(state: () => unknown, logger: Logger): Express {
  const app = createApp();
  app.get('/debug/state', (_request, response) => {
    response.json(state());
  });
  answerErrors(app, logger);
  return app;
}

/** The failing checks are always told; the passing ones only when asked for. */
function report(passed: boolean, lines: readonly string[], verbose: boolean): string {
  const shown = verbose ? lines : lines.filter((line) => line.startsWith('[-]'));
  return [...shown, passed ? 'ok' : 'not ok', ''].join('\n');
}

// The query parser is off: ?verbose and ?verbose=1 are all there is to ask.
const isVerbose = (url: string): boolean => /\?(.*&)?verbose(=(1|true)?)?(&|$)/.test(url);
