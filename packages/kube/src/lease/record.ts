import type { RawMeta } from '../object.ts';
import { resource } from '../resource.ts';

/** coordination.k8s.io/v1 Lease. Times are strings with microseconds. */
export interface Lease {
  readonly metadata: RawMeta;
  readonly spec?: LeaseSpec;
}

export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export const leases = resource<Lease>('coordination.k8s.io/v1', 'leases', 'Lease');

/** MicroTime: RFC 3339 with exactly six digits of a second. */
export function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace('Z', '000Z');
}

/** Whole seconds of at least one, because the API accepts nothing less. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
