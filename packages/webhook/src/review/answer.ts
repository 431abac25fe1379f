import type { JsonPatchOperation } from '@spotalis/core';
import { REVIEW_VERSION } from './request.ts';

export interface Answer {
  readonly uid: string;
  readonly apiVersion?: string;
  /** Empty or absent: the pod stays as it is. */
  readonly patch?: readonly JsonPatchOperation[];
  /** Shown by kubectl to whoever made the request. */
  readonly warnings?: readonly string[];
}

/** The API server cuts a longer warning, and drops warnings beyond 4096 characters in all. */
const MAX_WARNING_LENGTH = 256;

/**
 * `allowed` is always true: this webhook places pods and rejects none. An answer to an unknown call would be
 * refused by the API server, so the UID is always that of the request.
 */
export function writeReview(answer: Answer): string {
  const { uid, apiVersion = REVIEW_VERSION, patch = [], warnings = [] } = answer;
  const response: Record<string, unknown> = { uid, allowed: true };
  if (patch.length > 0) {
    response['patchType'] = 'JSONPatch';
    response['patch'] = Buffer.from(JSON.stringify(patch)).toString('base64');
  }
  if (warnings.length > 0) {
    response['warnings'] = warnings.map(shortened);
  }
  return JSON.stringify({ apiVersion, kind: 'AdmissionReview', response });
}

function shortened(warning: string): string {
  return warning.length <= MAX_WARNING_LENGTH ? warning : `${warning.slice(0, MAX_WARNING_LENGTH - 1)}…`;
}
