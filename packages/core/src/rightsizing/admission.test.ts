import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { readAmounts } from '../cluster/resources.ts';
import { applyPatch } from '../testing/patch.ts';
import { snapshots, snapshotWith, storedStatus } from '../testing/rightsizing.ts';
import { HOUR_MS, MiB, NOON_MS } from '../testing/usage.ts';
import { type AdmittedPod, sizeAtAdmission } from './admission.ts';
import { decideSizes } from './decide.ts';

const podOf = (cpu = '1', memory = '1Gi', more: object = {}): AdmittedPod => ({
  metadata: { annotations: { team: 'web' } },
  spec: {
    containers: [
      {
        name: 'app',
        resources: { requests: { cpu, memory }, limits: { cpu: '2', memory: '2Gi' } },
        ...more,
      },
      { name: 'other', resources: {} },
    ],
  },
});
const { status: decided } = decideSizes(snapshotWith(), NOON_MS);
if (decided === null) throw new Error('no status');
const status = storedStatus(decided);

function requestsAfter(pod: AdmittedPod, answer: ReturnType<typeof sizeAtAdmission>) {
  if (answer.kind === 'unsized') return answer.reason;
  const after = applyPatch(pod, answer.operations);
  return readAmounts(after.spec.containers?.[0]?.resources?.requests);
}

describe('a pod at admission', () => {
  it('gets the target, and keeps what it came with in an annotation', () => {
    const pod = podOf();
    const answer = sizeAtAdmission(pod, status, NOON_MS);
    expect(requestsAfter(pod, answer)).toEqual({ cpu: 480, memory: 400 * MiB });
    if (answer.kind === 'unsized') throw new Error(answer.reason);
    const after = applyPatch(pod, answer.operations);
    expect(after.metadata?.annotations).toMatchObject({ team: 'web' });
    expect(JSON.parse(after.metadata?.annotations?.['spotalis.io/template-resources'] ?? '')).toEqual({
      app: pod.spec.containers?.[0]?.resources,
    });
  });

  it.each([
    ['NoTarget', null, 0],
    ['NotApplied', { ...status, apply: false }, 0],
    ['TooOld', status, 7 * 24 * HOUR_MS],
  ] as const)('stays as it is: %s', (reason, stored, laterMs) => {
    expect(sizeAtAdmission(podOf(), stored, NOON_MS + laterMs)).toEqual({ kind: 'unsized', reason });
  });

  it('of a revision that the controller has not seen is only raised', () => {
    const pod = podOf('2', '100Mi');
    const answer = sizeAtAdmission(pod, status, NOON_MS);
    expect(answer).toMatchObject({ onlyRaised: true });
    expect(requestsAfter(pod, answer)).toEqual({ cpu: 2000, memory: 400 * MiB });
  });

  it('N8: has named amounts alone changed, none added and none removed, within its limits', () => {
    fc.assert(
      fc.property(snapshots, fc.integer({ min: 1, max: 4000 }), fc.boolean(), (snapshot, cpu, hasMemory) => {
        const stored = decideSizes(snapshot, NOON_MS).status;
        const requests = { cpu: `${cpu}m`, ...(hasMemory && { memory: '256Mi' }) };
        const container = { name: 'app', resources: { requests, limits: { cpu: '4' } } };
        const pod: AdmittedPod = { metadata: {}, spec: { containers: [container, { name: 'other' }] } };
        const answer = sizeAtAdmission(pod, stored && storedStatus(stored), NOON_MS);
        if (answer.kind === 'unsized') return;
        const [app, other] = applyPatch(pod, answer.operations).spec.containers ?? [];
        expect(other).toEqual({ name: 'other' });
        expect(Object.keys(app?.resources?.requests ?? {})).toEqual(Object.keys(requests));
        expect(Object.keys(app?.resources?.limits ?? {})).toEqual(['cpu']);
        const [request, limit] = [readAmounts(app?.resources?.requests), readAmounts(app?.resources?.limits)];
        expect(request['cpu']).toBeLessThanOrEqual(limit['cpu'] ?? 0);
      }),
      { numRuns: 200 },
    );
  });
});
