import { describe, expect, it } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { checkKeyPair, readCertificate } from './inspect.ts';
import { createAuthority, issueClient, issueLeaf } from './issue.ts';

const dayMs = 86_400_000;
const notBeforeMs = Date.UTC(2026, 0, 1);
const validity = { notBeforeMs, notAfterMs: notBeforeMs + 365 * dayMs };
const names = ['spotalis-webhook.spotalis.svc', 'localhost', '127.0.0.1', 'fd00::1:2', '::ffff:10.0.0.1'];

describe('a certificate authority', () => {
  it('is self-signed, on P-256, and may sign certificates', async () => {
    const authority = await createAuthority({ commonName: 'Spotalis CA', ...validity });
    const cert = new X509Certificate(authority.cert);
    expect(cert.ca).toBe(true);
    expect(cert.verify(cert.publicKey)).toBe(true);
    expect(cert.checkIssued(cert)).toBe(true);
    expect(cert.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect(cert.subject).toBe('CN=Spotalis CA');
  });
});

describe('a server certificate', () => {
  it('is signed by its authority for exactly the names and times asked for', async () => {
    const authority = await createAuthority({ commonName: 'Spotalis CA', ...validity });
    const leaf = await issueLeaf(authority, { names, notBeforeMs, notAfterMs: notBeforeMs + 30 * dayMs });
    const cert = new X509Certificate(leaf.cert);
    const issuer = new X509Certificate(authority.cert);
    expect(cert.verify(issuer.publicKey)).toBe(true);
    expect(cert.checkIssued(issuer)).toBe(true);
    expect(cert.ca).toBe(false);
    // Node calls the extended key usage so.
    expect(cert.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(cert.checkHost('spotalis-webhook.spotalis.svc')).toBeDefined();
    expect(cert.checkHost('spotalis-webhook.other.svc')).toBeUndefined();
    for (const address of names.slice(2)) expect(cert.checkIP(address)).toBeDefined();
    expect(checkKeyPair(leaf)).toMatchObject({
      notBeforeMs,
      notAfterMs: notBeforeMs + 30 * dayMs,
      dnsNames: names.slice(0, 2),
      isAuthority: false,
    });
  });

  it('may have a name longer than a common name can be', async () => {
    const authority = await createAuthority({ commonName: 'CA', ...validity });
    const long = `${'a'.repeat(60)}.namespace.svc`;
    const { cert } = await issueLeaf(authority, { names: [long], ...validity });
    expect(readCertificate(cert)).toMatchObject({ subject: 'CN=spotalis', dnsNames: [long] });
  });

  it('needs a name', async () => {
    const authority = await createAuthority({ commonName: 'CA', ...validity });
    await expect(issueLeaf(authority, { names: [], ...validity })).rejects.toThrow('at least one name');
  });
});

describe('a pair', () => {
  it('of two different certificates is refused', async () => {
    const one = await createAuthority({ commonName: 'one', ...validity });
    const other = await createAuthority({ commonName: 'other', ...validity });
    expect(() => checkKeyPair({ cert: one.cert, key: other.key })).toThrow(
      expect.objectContaining({ code: 'CERTIFICATE_KEY_MISMATCH' }),
    );
  });

  it('that OpenSSL would not serve is refused, whatever is wrong with it', async () => {
    const { cert, key } = await createAuthority({ commonName: 'one', ...validity });
    const broken = `${cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`;
    expect(() => checkKeyPair({ cert: broken, key })).toThrow(
      expect.objectContaining({ code: 'CERTIFICATE_UNREADABLE' }),
    );
    expect(checkKeyPair({ cert: cert + cert, key }).subject).toBe('CN=one');
  });

  it('of something else is refused', () => {
    expect(() => checkKeyPair({ cert: 'no', key: 'no' })).toThrow(
      expect.objectContaining({ code: 'CERTIFICATE_UNREADABLE' }),
    );
  });
});

describe('a client certificate', () => {
  it('names the user and its groups as Kubernetes reads them', async () => {
    const authority = await createAuthority({ commonName: 'Spotalis CA', ...validity });
    const request = { commonName: 'admin', organizations: ['system:masters', 'people'], ...validity };
    const cert = new X509Certificate((await issueClient(authority, request)).cert);
    expect(cert.subject).toBe('O=system:masters\nO=people\nCN=admin');
    expect(cert.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(cert.verify(new X509Certificate(authority.cert).publicKey)).toBe(true);
  });
});
