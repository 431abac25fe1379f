import { HttpServer } from '../http/server.ts';
import type { Readiness } from '../lifecycle/readiness.ts';
import type { Logger } from '../logging/logger.ts';
import { debugApp, type Exposition, healthApp, metricsApp } from './endpoints.ts';
import type { EventLoop } from './event-loop.ts';

export interface HealthServerOptions {
  readonly port: number;
  readonly eventLoop: EventLoop;
  readonly readiness: Readiness;
  readonly logger: Logger;
}

/** Started first and stopped last, so that probes are answered all the way. */
export const healthServer = ({ port, eventLoop, readiness, logger }: HealthServerOptions): HttpServer =>
  new HttpServer({ name: 'health', port, handler: healthApp(eventLoop, readiness, logger), logger });

export interface MetricsServerOptions {
  readonly port: number;
  readonly exposition: Exposition;
  readonly logger: Logger;
}

export const metricsServer = ({ port, exposition, logger }: MetricsServerOptions): HttpServer =>
  new HttpServer({ name: 'metrics', port, handler: metricsApp(exposition, logger), logger });

export interface DebugServerOptions {
  readonly port: number;
  readonly state: () => unknown;
  readonly logger: Logger;
}

/** Reached by kubectl port-forward or from inside the pod, by nobody else. */
export const debugServer = ({ port, state, logger }: DebugServerOptions): HttpServer =>
  new HttpServer({ name: 'debug', host: '127.0.0.1', port, handler: debugApp(state, logger), logger });
