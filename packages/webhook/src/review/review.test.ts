import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { gate } from '@spotalis/core';
import { writeReview } from './answer.ts';
import { type AdmissionRequest, readReview } from './request.ts';

const fixtures = new URL('fixtures/', import.meta.url);

/** As a real API server sent them. */
function recorded(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, fixtures), 'utf8'));
}

function requestOf(body: unknown): AdmissionRequest {
  const review = readReview(body);
  if (review.kind !== 'request') throw new Error(`unexpectedly ${review.kind}`);
  return review.request;
}

const minimal = (change: object = {}) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'u', ...change },
});

describe('reading a review', () => {
  it.each(readdirSync(fixtures))('understands %s as it was recorded', (name) => {
    const { uid, view, pod } = requestOf(recorded(name));
    expect(uid).toHaveLength(36);
    expect(pod).toBeDefined();
    expect(gate(view).ours).toBe(true);
  });

  it('sees the owner and the hash of a pod of a ReplicaSet', () => {
    const { view, pod } = requestOf(recorded('replicaset-pod.json'));
    expect(gate(view)).toMatchObject({ namespace: 'shop', dryRun: false, owner: { kind: 'ReplicaSet' } });
    expect(pod?.metadata.labels?.['pod-template-hash']).toBeDefined();
  });

  it('sees that a request is a dry run', () => {
    expect(gate(requestOf(recorded('dry-run.json')).view)).toMatchObject({ dryRun: true });
  });

  it('sees what the first call wrote in a reinvocation', () => {
    const { uid, pod } = requestOf(recorded('reinvocation.json'));
    const token = pod?.metadata.annotations?.['spotalis.io/reservation'];
    expect(token).toHaveLength(36);
    expect(token).not.toBe(uid);
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'AdmissionReview'],
    ['a list', []],
    ['no request', { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }],
    ['no UID', minimal({ uid: undefined })],
    ['an empty UID', minimal({ uid: '' })],
    ['a number as UID', minimal({ uid: 7 })],
    ['a UID that is none', minimal({ uid: 'x'.repeat(257) })],
  ])('cannot answer %s', (_, body) => {
    expect(readReview(body)).toMatchObject({ kind: 'unreadable' });
  });

  it('answers another version in that version, with the UID', () => {
    const body = { ...minimal(), apiVersion: 'admission.k8s.io/v1beta1' };
    expect(readReview(body)).toMatchObject({
      kind: 'unsupported',
      uid: 'u',
      apiVersion: 'admission.k8s.io/v1beta1',
    });
  });

  it.each([{ apiVersion: 'v1' }, { kind: 'ConversionReview' }, { kind: undefined }])(
    'answers what is no review of v1 (%j) in v1, with the UID',
    (change) => {
      expect(readReview({ ...minimal(), ...change })).toMatchObject({
        kind: 'unsupported',
        uid: 'u',
        apiVersion: 'admission.k8s.io/v1',
      });
    },
  );

  it.each([
    ['no spec', {}],
    ['a selector that is a text', { spec: { nodeSelector: 'spot' } }],
    ['a selector with a number', { spec: { nodeSelector: { zone: 1 } } }],
    ['tolerations that are a map', { spec: { tolerations: {} } }],
    ['a term that is a text', { spec: { affinity: { nodeAffinity: affinityOf(['term']) } } }],
    ['an unknown operator', { spec: { affinity: { nodeAffinity: affinityOf([term('Near')]) } } }],
    ['annotations that are a list', { metadata: { annotations: [] }, spec: {} }],
  ])('does not take for a pod an object with %s', (_, pod) => {
    expect(requestOf(minimal({ object: { metadata: {}, ...pod } })).pod).toBeUndefined();
  });

  it('takes null for absent, as the API server writes it', () => {
    const spec = { nodeSelector: null, affinity: null, tolerations: null, topologySpreadConstraints: null };
    const metadata = { annotations: null, labels: null };
    expect(requestOf(minimal({ object: { metadata, spec } })).pod).toBeDefined();
  });
});

describe('writing an answer', () => {
  it('always allows, and carries the UID', () => {
    expect(JSON.parse(writeReview({ uid: 'u' }))).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: 'u', allowed: true },
    });
  });

  it('encodes the patch', () => {
    const patch = [{ op: 'add', path: '/metadata/annotations', value: { a: 'ä' } }] as const;
    const { response } = JSON.parse(writeReview({ uid: 'u', patch }));
    expect(response.patchType).toBe('JSONPatch');
    expect(JSON.parse(Buffer.from(response.patch, 'base64').toString())).toEqual(patch);
  });

  it('keeps warnings to the length that the API server passes on', () => {
    const { response } = JSON.parse(writeReview({ uid: 'u', warnings: ['w'.repeat(1_000)] }));
    expect(response.warnings[0]).toHaveLength(256);
  });
});

function affinityOf(nodeSelectorTerms: unknown[]) {
  return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
}

function term(operator: string) {
  return { matchExpressions: [{ key: 'zone', operator, values: ['a'] }] };
}
