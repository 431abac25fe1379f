import type { AdmissionRequestView, OwnerReferenceView } from '@spotalis/core';
import { type JsonObject, listAt, objectAt, textAt } from './json.ts';
import { type ReadablePod, readPod } from './pod.ts';

/** One call of the API server. `uid` names the call, not the pod: a reinvocation of the same pod has another one. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly view: AdmissionRequestView;
  /** Undefined when the object cannot be read as a pod. */
  readonly pod: ReadablePod | undefined;
}

export type Review =
  | { readonly kind: 'request'; readonly request: AdmissionRequest }
  /** Another version or kind, but with a UID, so it gets a well-formed answer. */
  | {
      readonly kind: 'unsupported';
      readonly uid: string;
      readonly apiVersion: string;
      readonly problem: string;
    }
  /** There is no UID to answer to: HTTP 400. */
  | { readonly kind: 'unreadable'; readonly problem: string };

export const REVIEW_VERSION = 'admission.k8s.io/v1';

/** Same shape on the wire; only sent where a webhook's configuration asks for it. */
const OLDER_VERSION = 'admission.k8s.io/v1beta1';

/** A UID has 36 characters. A much longer text is not one and is not echoed. */
const MAX_UID_LENGTH = 256;

export function readReview(body: unknown): Review {
  const review = objectAt(body);
  const request = objectAt(review?.['request']);
  const uid = textAt(request?.['uid']) ?? '';
  if (review === undefined || request === undefined || uid === '' || uid.length > MAX_UID_LENGTH) {
    return { kind: 'unreadable', problem: 'the body has no request.uid; an AdmissionReview is expected' };
  }
  const apiVersion = review['apiVersion'];
  if (review['kind'] !== 'AdmissionReview' || apiVersion !== REVIEW_VERSION) {
    return {
      kind: 'unsupported',
      uid,
      apiVersion: apiVersion === OLDER_VERSION ? OLDER_VERSION : REVIEW_VERSION,
      problem: `only AdmissionReview of ${REVIEW_VERSION} is understood`,
    };
  }
  const raw = objectAt(request['object']) ?? {};
  return { kind: 'request', request: { uid, view: viewOf(request, raw), pod: readPod(raw) } };
}

function viewOf(request: JsonObject, pod: JsonObject): AdmissionRequestView {
  const kind = objectAt(request['kind']) ?? {};
  const resource = objectAt(request['resource']) ?? {};
  return {
    operation: textAt(request['operation']) ?? '',
    kind: { group: textAt(kind['group']) ?? '', kind: textAt(kind['kind']) ?? '' },
    resource: { group: textAt(resource['group']) ?? '', resource: textAt(resource['resource']) ?? '' },
    subResource: textAt(request['subResource']) ?? null,
    namespace: textAt(request['namespace']) ?? null,
    dryRun: request['dryRun'] === true,
    object: {
      metadata: { ownerReferences: ownersOf(objectAt(pod['metadata']) ?? {}) },
      spec: { nodeName: textAt(objectAt(pod['spec'])?.['nodeName']) ?? null },
    },
  };
}

function ownersOf(metadata: JsonObject): readonly OwnerReferenceView[] {
  return listAt(metadata['ownerReferences']).flatMap((reference) => {
    const { apiVersion, kind, name, uid, controller } = objectAt(reference) ?? {};
    const isWhole =
      typeof apiVersion === 'string' &&
      typeof kind === 'string' &&
      typeof name === 'string' &&
      name !== '' &&
      typeof uid === 'string' &&
      uid !== '';
    return isWhole ? [{ apiVersion, kind, name, uid, controller: controller === true }] : [];
  });
}
