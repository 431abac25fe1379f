import { hostname } from 'node:os';
import type { Configuration, ProductSettings } from '@spotalis/core';
import { ApiClient, type Credentials, EventRecorder, ownPod, Transport } from '@spotalis/kube';
import { type Ledger, openLedger, redisSettings } from '@spotalis/ledger';
import {
  type Component,
  followConfiguration,
  type LoadedConfiguration,
  type Metrics,
  restClientMetrics,
  type RootLogger,
} from '@spotalis/runtime';
import type { WebhookEvent } from './report/events.ts';
import { ledgerObserver } from './report/metrics.ts';

/** Connections to the API server for short requests: a burst over fifty Deployments reads fifty ReplicaSets at once. */
const CONNECTIONS = 16;

/** Events are for people; a stop does not wait long for them. */
const EVENTS_DEADLINE_MS = 2_000;

export interface ConnectionParts {
  readonly configuration: LoadedConfiguration<ProductSettings>;
  readonly credentials: Credentials;
  readonly metrics: Metrics;
  readonly logger: RootLogger;
  readonly now: () => number;
}

export interface Connections {
  readonly client: ApiClient;
  readonly ledger: Ledger;
  /** The configuration as it is now: the same object until it changes. */
  readonly live: { readonly current: Configuration };
  /** Writes an Event about the service's own pod. */
  readonly warn: (reason: WebhookEvent, action: string, note: string) => void;
  /** In the order of their start. */
  readonly components: readonly Component[];
}

/** What the service holds open all the time: the API server, its configuration file, the ledger. */
export function openConnections(parts: ConnectionParts): Connections {
  const { configuration, credentials, metrics, logger, now } = parts;
  const rest = restClientMetrics(metrics);
  const transport = new Transport({
    credentials,
    userAgent: 'spotalis-webhook',
    connections: CONNECTIONS,
    observe: (request) => rest.finished(request),
  });
  const client = new ApiClient(transport);
  const recorder = new EventRecorder<WebhookEvent>({
    client,
    controller: 'spotalis.io/webhook',
    instance: hostname(),
    onDropped: (why, event, error) => logger.warn('event not written', { why, reason: event.reason, error }),
  });
  const warn = (reason: WebhookEvent, action: string, note: string): void =>
    recorder.record({ regarding: ownPod(credentials.namespace), type: 'Warning', reason, action, note });
  const { live } = followConfiguration({
    configuration,
    metrics,
    logger,
    refused: ({ message }) => warn('InvalidConfiguration', 'ReloadConfiguration', message),
  });
  const observer = ledgerObserver(metrics);
  const redis = redisSettings(configuration.values.redis);
  const ledger = openLedger({ redis, now, wallMs: Date.now, observer });
  observer.mode(ledger.health().mode);
  return {
    client,
    ledger,
    live,
    warn,
    components: [
      live,
      { name: 'api-client', stop: () => transport.close() },
      { name: 'events', stop: () => recorder.stop(EVENTS_DEADLINE_MS) },
      { name: 'ledger', stop: () => ledger.close() },
    ],
  };
}
