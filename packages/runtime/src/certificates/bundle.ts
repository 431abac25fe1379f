import { X509Certificate } from 'node:crypto';
import { createAuthority, issueLeaf, type KeyPair, type Validity } from './issue.ts';

/** A certificate that others are checked against, as it stands in a bundle. */
export interface Authority {
  readonly cert: string;
  readonly fingerprint: string;
  readonly notAfterMs: number;
}

const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The readable certificates of a PEM text, each once. Whatever else is in it says nothing to a TLS client either. */
export function readAuthorities(pem: string): readonly Authority[] {
  const found = (pem.match(block) ?? []).flatMap((cert) => readAuthority(`${cert}\n`));
  return [...new Map(found.map((authority) => [authority.fingerprint, authority])).values()];
}

function readAuthority(cert: string): readonly Authority[] {
  try {
    const { fingerprint256, validTo } = new X509Certificate(cert);
    return [{ cert, fingerprint: fingerprint256, notAfterMs: Date.parse(validTo) }];
  } catch {
    return [];
  }
}

/** PEM, as `caBundle` and `ca.crt` hold it. */
export const writeAuthorities = (authorities: readonly Authority[]): string =>
  authorities.map(({ cert }) => cert).join('');

/** The one that signed the certificate; undefined when none of them did. */
export function authorityOf<A extends Authority>(cert: string, authorities: readonly A[]): A | undefined {
  const leaf = new X509Certificate(cert);
  return authorities.find((authority) => {
    const issuer = new X509Certificate(authority.cert);
    return leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey);
  });
}

export interface ServingCertificate {
  readonly pair: KeyPair;
  readonly authority: Authority;
}

/**
 * A server certificate and an authority that signs it and nothing else: the authority's private key is gone when
 * this returns. So nobody can steal it, and who trusts the authority trusts one certificate.
 */
export async function issueServing(
  names: readonly string[],
  validity: Validity,
): Promise<ServingCertificate> {
  // A subject of its own, so that a reader of a bundle can tell one from the other.
  const commonName = `Spotalis webhook authority ${new Date(validity.notBeforeMs).toISOString()}`;
  const authority = await createAuthority({ commonName, ...validity });
  const pair = await issueLeaf(authority, { names, ...validity });
  const [read] = readAuthorities(authority.cert);
  if (read === undefined) throw new Error('the authority that was just made cannot be read');
  return { pair, authority: read };
}
