import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { KeyPair, Validity } from './issue.ts';

export type CertificateErrorCode =
  /** The text is no PEM certificate or no PEM private key, or one that OpenSSL refuses to serve. */
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

/**
 * How every server of ours speaks TLS. No API server takes up a session again: to pack each into a ticket was in vain,
 * and an eighth of what a connection costs. Bursts open many.
 */
export const tlsTerms = { minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET } as const;

/** Throws a CertificateError unless the two texts are readable, belong together and can be served. */
export function checkKeyPair({ cert, key }: KeyPair): CertificateFacts {
  const facts = readCertificate(cert);
  const privateKey = parse(() => createPrivateKey(key), 'the private key');
  if (!new X509Certificate(cert).checkPrivateKey(privateKey)) {
    throw new CertificateError(
      'CERTIFICATE_KEY_MISMATCH',
      `the private key does not belong to the certificate ${facts.subject}`,
    );
  }
  // The rest of a chain, and what OpenSSL holds to be too weak, nobody else looks at before a server takes the pair.
  try {
    createSecureContext({ cert, key, ...tlsTerms });
  } catch (error) {
    throw new CertificateError(
      'CERTIFICATE_UNREADABLE',
      `the certificate ${facts.subject} cannot be served: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
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
