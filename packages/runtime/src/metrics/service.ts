import { readCertificate } from '../certificates/inspect.ts';
import type { KeyPair } from '../certificates/issue.ts';
import { specs } from './catalogue.ts';
import type { Metrics } from './registry.ts';

/** Registers controller_runtime_webhook_*. */
export function webhookMetrics(metrics: Metrics) {
  const seconds = metrics.histogram(specs.webhookSeconds);
  const requests = metrics.counter(specs.webhookRequests);
  const inFlight = metrics.gauge(specs.webhookInFlight);
  return {
    observer(webhook: string) {
      const labels = { webhook };
      seconds.touch(labels);
      inFlight.set(labels, 0);
      for (const code of ['200', '500']) requests.touch({ webhook, code });
      return {
        started: () => inFlight.add(labels, 1),
        finished(status: number, durationMs: number): void {
          inFlight.add(labels, -1);
          requests.add({ webhook, code: String(status) });
          seconds.observe(labels, durationMs / 1_000);
        },
      };
    },
  };
}

/** Registers certwatcher_* and what is left of the certificate in use. */
export function certificateMetrics(metrics: Metrics) {
  const reads = metrics.counter(specs.certificateReads);
  const errors = metrics.counter(specs.certificateErrors);
  const expiry = metrics.gauge(specs.certificateExpiry);
  const lifetime = metrics.gauge(specs.certificateLifetime);
  const rotations = metrics.counter(specs.certificateRotations);
  for (const result of ['rotated', 'failed']) rotations.touch({ result });
  return {
    loaded({ cert }: KeyPair): void {
      reads.add({});
      const { notBeforeMs, notAfterMs } = readCertificate(cert);
      expiry.set({}, notAfterMs / 1_000);
      lifetime.set({}, (notAfterMs - notBeforeMs) / 1_000);
    },
    rejected: () => errors.add({}),
    rotated: () => rotations.add({ result: 'rotated' }),
    failed: () => rotations.add({ result: 'failed' }),
  };
}

/** Registers the counter of configuration reloads. */
export function configurationMetrics(metrics: Metrics) {
  const reloads = metrics.counter(specs.configurationReloads);
  for (const result of ['applied', 'rejected', 'restart']) reloads.touch({ result });
  return {
    changed: () => reloads.add({ result: 'applied' }),
    rejected: () => reloads.add({ result: 'rejected' }),
    needsRestart: () => reloads.add({ result: 'restart' }),
  };
}
