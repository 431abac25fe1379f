import type { ReadinessCheck } from '../lifecycle/readiness.ts';
import { readCertificate } from './inspect.ts';
import type { Validity } from './issue.ts';
import type { CertificateSource } from './source.ts';

/** Ready with a certificate that has begun and not ended: nobody would talk to this process with any other. */
export function certificateCheck(source: CertificateSource, wallMs: () => number): ReadinessCheck {
  let read: (Validity & { readonly of: string }) | undefined;
  return () => {
    const pair = source.current();
    if (pair === undefined) return 'none loaded yet';
    if (read?.of !== pair.cert) read = { of: pair.cert, ...readCertificate(pair.cert) };
    const nowMs = wallMs();
    if (read.notBeforeMs > nowMs) return `begins only at ${new Date(read.notBeforeMs).toISOString()}`;
    return read.notAfterMs > nowMs || `ended at ${new Date(read.notAfterMs).toISOString()}`;
  };
}
