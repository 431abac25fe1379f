import { authorityOf, readAuthorities, readCertificate } from '@spotalis/runtime';
import { span } from '../../output/output.ts';
import type { Check, Finding, Severity } from '../finding.ts';
import type { FindingId } from '../known.ts';
import type { Picture } from '../picture/picture.ts';
import { ownRegistration } from './registration.ts';

/** Of a certificate's life: in mode auto a third is left when it is renewed, so this says that it was not. */
const LEAST_LEFT = 1 / 6;

const remedy = 'docs/certificates.md, and docs/runbooks.md#spotaliscertificateexpiring';

export const isTrusted: Check = (picture) => {
  const registration = ownRegistration(picture);
  const { serving } = picture.installation;
  if (!registration) return [];
  const finding = (id: FindingId, what: string): Finding => ({
    id,
    severity: 'error',
    object: `MutatingWebhookConfiguration ${registration.name}`,
    what,
    why: 'the API server does not believe the webhook, so pods are created unsteered',
    remedy,
  });
  // Without a bundle the API server goes by its own authorities, which nobody uses for this but by a URL.
  const isOwnUrl = registration.service === null && serving.kind === 'unknown';
  const authorities = readAuthorities(registration.caBundle);
  if (registration.caBundle.trim() === '') {
    return isOwnUrl ? [] : [finding('ca-bundle-empty', 'its caBundle is empty')];
  }
  if (authorities.length === 0)
    return [finding('ca-bundle-empty', 'its caBundle holds no readable certificate')];
  if (serving.kind !== 'found' || !isReadable(serving.cert)) return [];
  // A certificate may be its own authority.
  const { fingerprint } = readCertificate(serving.cert);
  if (authorityOf(serving.cert, authorities) !== undefined) return [];
  if (authorities.some((authority) => authority.fingerprint === fingerprint)) return [];
  return [finding('ca-bundle-wrong', `its caBundle does not verify the certificate in ${serving.secret}`)];
};

export const isServed: Check = ({ installation: { serving } }) => {
  if (serving.kind === 'unknown') return [];
  if (serving.kind === 'found' && isReadable(serving.cert)) return [];
  return [
    {
      id: 'certificate-missing',
      severity: 'error',
      object: serving.secret,
      what: serving.kind === 'missing' ? 'it is not there' : 'it holds no readable certificate',
      why: 'a webhook cannot serve without one, so pods are created unsteered',
      remedy,
    },
  ];
};

export const isValid: Check = (picture: Picture) => {
  const { installation, nowMs } = picture;
  const { serving } = installation;
  if (serving.kind !== 'found' || !isReadable(serving.cert)) return [];
  const { notBeforeMs, notAfterMs } = readCertificate(serving.cert);
  const leftMs = notAfterMs - nowMs;
  const finding = (id: FindingId, severity: Severity, what: string): Finding => ({
    id,
    severity,
    object: serving.secret,
    what,
    why: 'with an expired certificate the API server does not believe the webhook, and pods are created unsteered',
    remedy,
  });
  if (leftMs <= 0)
    return [finding('certificate-expired', 'error', `its certificate expired ${span(-leftMs)} ago`)];
  if (leftMs > (notAfterMs - notBeforeMs) * LEAST_LEFT) return [];
  return [
    finding(
      'certificate-expiring',
      'warning',
      `its certificate expires in ${span(leftMs)} and was not renewed`,
    ),
  ];
};

function isReadable(cert: string): boolean {
  try {
    readCertificate(cert);
    return true;
  } catch {
    return false;
  }
}
