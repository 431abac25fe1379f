import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ApiClient } from '@spotalis/kube';
import {
  CertificateFiles,
  type CertificateSource,
  type Component,
  type Configuration,
  type Logger,
  namespaceAt,
} from '@spotalis/runtime';
import { type CertificateObserver, SharedCertificate } from './shared.ts';

export interface CertificateParts {
  readonly settings: Configuration['webhook'];
  /** The namespace this process runs in, if it is known. */
  readonly namespace: string | undefined;
  readonly client: ApiClient;
  readonly observer: CertificateObserver;
  readonly logger: Logger;
}

/** The certificate to serve with. Where others make it, it comes in files, and nothing is written anywhere. */
export function openCertificate({
  settings,
  namespace: own,
  client,
  observer,
  logger,
}: CertificateParts): CertificateSource & Component {
  if (settings.certs.mode !== 'auto') {
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
  const namespace = namespaceAt('webhook.certs.namespace', certs.namespace, own);
  return new SharedCertificate({
    client,
    place: { namespace, name: certs.name },
    configurationName: settings.configurationName,
    names: [`${certs.service}.${namespace}.svc`, ...certs.names],
    lifetimeMs: certs.lifetime,
    checkPeriodMs: certs.checkPeriod,
    identity: `${hostname()}_${randomUUID()}`,
    observer,
    logger,
    wallMs: () => Date.now(),
    now: () => performance.now(),
  });
}
