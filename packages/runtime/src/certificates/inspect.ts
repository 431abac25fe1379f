import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyPair, Validity } from './issue.ts';

export type CertificateErrorCode =
  /** The text is no PEM certificate or no PEM private key. */
  | 'CERTIFICATE_UNREADABLE'
  /** Certificate and key are both fine but not of one pair: usually seen half-way through a replacement. */
  | 'CERTIFICATE_KEY_MISMATCH';

/** Retrying helps once the files or the Secret were replaced. */
export class CertificateError extends Error {
  readonly code: CertificateErrorCode;

  constructor(code: CertificateErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CertificateError';
    this.code = code;
  }
}

export interface CertificateFacts extends Validity {
  readonly subject: string;
  readonly dnsNames: readonly string[];
  readonly fingerprint: string;
  readonly isAuthority: boolean;
}

/** Reads the first certificate of a PEM text. */
export function readCertificate(cert: string): CertificateFacts {
  const parsed = parse(() => new X509Certificate(cert), 'the certificate');
  const names = (parsed.subjectAltName ?? '').split(', ').filter((name) => name.startsWith('DNS:'));
  return {
    subject: parsed.subject,
    dnsNames: names.map((name) => name.slice('DNS:'.length)),
    notBeforeMs: Date.parse(parsed.validFrom),
    notAfterMs: Date.parse(parsed.validTo),
    fingerprint: parsed.fingerprint256,
    isAuthority: parsed.ca,
  };
}

/** Throws a CertificateError unless the two texts are readable and belong together. */
export function checkKeyPair({ cert, key }: KeyPair): CertificateFacts {
  const facts = readCertificate(cert);
  const privateKey = parse(() => createPrivateKey(key), 'the private key');
  if (!new X509Certificate(cert).checkPrivateKey(privateKey)) {
    throw new CertificateError(
      'CERTIFICATE_KEY_MISMATCH',
      `the private key does not belong to the certificate ${facts.subject}`,
    );
  }
  return facts;
}

function parse<T>(read: () => T, what: string): T {
  try {
    return read();
  } catch (error) {
    throw new CertificateError('CERTIFICATE_UNREADABLE', `${what} is not readable PEM`, { cause: error });
  }
}
