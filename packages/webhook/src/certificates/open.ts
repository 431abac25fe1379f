import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { WebhookValues } from '@spotalis/core';
import type { ApiClient } from '@spotalis/kube';
import {
  CertificateFiles,
  type CertificateSource,
  type Component,
  type Logger,
  namespaceAt,
} from '@spotalis/runtime';
import { type CertificateObserver, SharedCertificate } from './shared.ts';
import type { SecretReference } from './secret.ts';

export interface CertificateParts {
  readonly settings: WebhookValues;
  /** Where the certificate is shared; undefined: others make it. */
  readonly secret: SecretReference | undefined;
  readonly client: ApiClient;
  readonly observer: CertificateObserver;
  readonly logger: Logger;
}

/** Throws a ConfigurationError where no namespace is known for a certificate that we make. */
export function certificateSecret(
  { certs }: WebhookValues,
  own: string | undefined,
): SecretReference | undefined {
  if (certs.mode !== 'auto') return undefined;
  return { namespace: namespaceAt('webhook.certs.namespace', certs.namespace, own), name: certs.name };
}

/** The certificate to serve with. Where others make it, it comes in files, and nothing is written anywhere. */
export function openCertificate({
  settings,
  secret,
  client,
  observer,
  logger,
}: CertificateParts): CertificateSource & Component {
  if (secret === undefined) {
    return new CertificateFiles({
      directory: settings.certDir,
      loaded: (pair) => observer.loaded(pair),
      rejected: (error) => {
        observer.rejected();
        logger.error('the changed certificate cannot be used; the old one stays in use', { error });
      },
    });
  }
  const { certs } = settings;
  return new SharedCertificate({
    client,
    secret,
    configurationName: settings.configurationName,
    names: [`${certs.service}.${secret.namespace}.svc`, ...certs.names],
    lifetimeMs: certs.lifetime,
    checkPeriodMs: certs.checkPeriod,
    identity: `${hostname()}_${randomUUID()}`,
    observer,
    logger,
    wallMs: () => Date.now(),
    now: () => performance.now(),
  });
}
