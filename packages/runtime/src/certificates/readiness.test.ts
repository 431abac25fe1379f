import { describe, expect, it } from '@jest/globals';
import { createAuthority } from './issue.ts';
import { certificateCheck } from './readiness.ts';
import { CertificateHolder } from './source.ts';

const notBeforeMs = Date.parse('2026-01-01T00:00:00Z');
const notAfterMs = Date.parse('2026-01-02T00:00:00Z');

describe('a process with a certificate', () => {
  it('is ready from its beginning to its end', async () => {
    const holder = new CertificateHolder();
    let nowMs = notBeforeMs - 1;
    const check = certificateCheck(holder, () => nowMs);
    expect(check()).toBe('none loaded yet');
    holder.set(await createAuthority({ commonName: 'one', notBeforeMs, notAfterMs }));
    expect(check()).toBe('begins only at 2026-01-01T00:00:00.000Z');
    nowMs = notBeforeMs;
    expect(check()).toBe(true);
    nowMs = notAfterMs;
    expect(check()).toBe('ended at 2026-01-02T00:00:00.000Z');
  });
});
