import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { settings } from '@spotalis/core';
import { Credentials } from '@spotalis/kube';
import { createAuthority, createLogger, issueLeaf, loadConfiguration } from '@spotalis/runtime';
import { type App, createApp } from '../app.ts';

export interface RunningService {
  readonly app: App;
  readonly url: string;
  /** PEM of the authority behind the service's certificate. */
  readonly ca: string;
  /** The lines it logged. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
}

const dayMs = 86_400_000;

/** The whole service in this process, over TLS on a free port, against the API server at that URL or of that kubeconfig. */
export async function startService(
  api: string | { readonly kubeconfig: string },
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningService> {
  const directory = await mkdtemp(join(tmpdir(), 'spotalis-webhook-'));
  const validity = { notBeforeMs: Date.now() - dayMs, notAfterMs: Date.now() + dayMs };
  const authority = await createAuthority({ commonName: 'test', ...validity });
  const leaf = await issueLeaf(authority, { names: ['localhost'], ...validity });
  const kubeconfig = typeof api === 'string' ? join(directory, 'kubeconfig') : api.kubeconfig;
  await Promise.all([
    writeFile(join(directory, 'tls.crt'), leaf.cert),
    writeFile(join(directory, 'tls.key'), leaf.key),
    ...(typeof api === 'string' ? [writeFile(kubeconfig, kubeconfigOf(api))] : []),
  ]);
  const configuration = await loadConfiguration(settings, {
    environment: {
      SPOTALIS_REDIS_URL: 'memory://',
      SPOTALIS_WEBHOOK_PORT: '0',
      SPOTALIS_WEBHOOK_CERTS_MODE: 'provided',
      SPOTALIS_WEBHOOK_CERT_DIR: directory,
      SPOTALIS_WEBHOOK_DRAIN_GRACE: '0',
      SPOTALIS_WEBHOOK_REHEARSAL: '0',
      SPOTALIS_PLACEMENT_ASSUME_LABELS: 'true',
      SPOTALIS_HEALTH_PORT: '0',
      SPOTALIS_DEBUG_PORT: '0',
      SPOTALIS_METRICS_PORT: '0',
      ...environment,
    },
  });
  const log: Readonly<Record<string, unknown>>[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      for (const text of String(chunk).trim().split('\n')) log.push(JSON.parse(text));
      done();
    },
  });
  const logger = createLogger({ service: 'webhook', level: 'info', format: 'json', stream });
  const credentials = new Credentials({ path: kubeconfig });
  const app = createApp({ configuration, credentials, logger });
  await app.lifecycle.start();
  return {
    app,
    url: `https://localhost:${app.port()}`,
    ca: authority.cert,
    log,
    async stop() {
      await app.lifecycle.stop();
      await rm(directory, { recursive: true });
    },
  };
}

export function kubeconfigOf(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: {} }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  });
}
