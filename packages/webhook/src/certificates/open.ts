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
import type { Place } from './secret.ts';

export interface CertificateParts {
  readonly settings: WebhookValues;
  /** Of the Secret; undefined: others make the certificate. */
  readonly place: Place | undefined;
  readonly client: ApiClient;
  readonly observer: CertificateObserver;
  readonly logger: Logger;
}

/** Throws a ConfigurationError where no namespace is known for a certificate that we make. */
export function placeOfCertificate({ certs }: WebhookValues, own: string | undefined): Place | undefined {
  if (certs.mode !== 'auto') return undefined;
  return { namespace: namespaceAt('webhook.certs.namespace', certs.namespace, own), name: certs.name };
}

/** The certificate to serve with. Where others make it, it comes in files, and nothing is written anywhere. */
export function openCertificate({
  settings,
  place,
  client,
  observer,
  logger,
}: CertificateParts): CertificateSource & Component {
  if (place === undefined) {
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
    place,
    configurationName: settings.configurationName,
    names: [`${certs.service}.${place.namespace}.svc`, ...certs.names],
    lifetimeMs: certs.lifetime,
    checkPeriodMs: certs.checkPeriod,
    identity: `${hostname()}_${randomUUID()}`,
    observer,
    logger,
    wallMs: () => Date.now(),
    now: () => performance.now(),
  });
}
