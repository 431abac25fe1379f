import type { ReadinessCheck } from '../lifecycle/readiness.ts';
import { readCertificate } from './inspect.ts';
import type { CertificateSource } from './source.ts';

/** Ready with a certificate that has not ended: nobody would talk to this process with any other. */
export function certificateCheck(source: CertificateSource, wallMs: () => number): ReadinessCheck {
  let endMs: { readonly of: string; readonly at: number } | undefined;
  return () => {
    const pair = source.current();
    if (pair === undefined) return 'none loaded yet';
    if (endMs?.of !== pair.cert) endMs = { of: pair.cert, at: readCertificate(pair.cert).notAfterMs };
    return endMs.at > wallMs() || `ended at ${new Date(endMs.at).toISOString()}`;
  };
}
