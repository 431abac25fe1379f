import { describe, expect, it } from '@jest/globals';
import { type AdmissionRequestView, gate, type OwnerReferenceView } from './gate.ts';

const owner = (changes: Partial<OwnerReferenceView> = {}): OwnerReferenceView => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: 'web-7d4b9',
  uid: 'u-1',
  controller: true,
  ...changes,
});

const request = (changes: Partial<AdmissionRequestView> = {}): AdmissionRequestView => ({
  operation: 'CREATE',
  kind: { group: '', kind: 'Pod' },
  resource: { group: '', resource: 'pods' },
  namespace: 'shop',
  object: { metadata: { ownerReferences: [owner()] } },
  ...changes,
});

const ownedBy = (...owners: OwnerReferenceView[]) =>
  request({ object: { metadata: { ownerReferences: owners } } });

describe('the gate', () => {
  it.each(['ReplicaSet', 'StatefulSet'] as const)('lets the pod of a %s through', (kind) => {
    expect(gate(ownedBy(owner({ kind })))).toEqual({
      ours: true,
      namespace: 'shop',
      owner: { kind, name: 'web-7d4b9', uid: 'u-1' },
      dryRun: false,
    });
  });

  it('passes on that a request is a dry run', () => {
    expect(gate(request({ dryRun: true }))).toMatchObject({ ours: true, dryRun: true });
  });

  it('goes by the owner that controls the pod', () => {
    const verdict = gate(ownedBy(owner({ kind: 'Job', controller: false }), owner({ uid: 'u-2' })));
    expect(verdict).toMatchObject({ ours: true, owner: { uid: 'u-2' } });
    expect(gate(ownedBy(owner({ controller: false })))).toEqual({ ours: false, reason: 'BarePod' });
  });

  it.each<[string, AdmissionRequestView]>([
    ['NotCreate', request({ operation: 'UPDATE' })],
    ['NotCreate', request({ operation: 'DELETE' })],
    [
      'NotPod',
      request({
        kind: { group: 'apps', kind: 'Deployment' },
        resource: { group: 'apps', resource: 'deployments' },
      }),
    ],
    ['NotPod', request({ kind: { group: 'example.com', kind: 'Pod' } })],
    ['NotPod', request({ kind: { group: 'policy', kind: 'Eviction' } })],
    ['Subresource', request({ subResource: 'ephemeralcontainers' })],
    ['NoNamespace', request({ namespace: '' })],
    ['NoNamespace', request({ namespace: null })],
    [
      'AlreadyBound',
      request({ object: { metadata: { ownerReferences: [owner()] }, spec: { nodeName: 'node-1' } } }),
    ],
    ['BarePod', request({ object: {} })],
    ['BarePod', request({ object: null })],
    ['BarePod', request({ object: { metadata: { ownerReferences: null } } })],
    ['BarePod', ownedBy()],
    ['OtherOwner', ownedBy(owner({ apiVersion: 'batch/v1', kind: 'Job' }))],
    ['OtherOwner', ownedBy(owner({ kind: 'DaemonSet' }))],
    ['OtherOwner', ownedBy(owner({ apiVersion: 'v1', kind: 'Node' }))],
    ['OtherOwner', ownedBy(owner({ apiVersion: 'example.com/v1', kind: 'ReplicaSet' }))],
    ['OtherOwner', ownedBy(owner({ apiVersion: 'v1', kind: 'ReplicationController' }))],
  ])('leaves a pod alone for %s', (reason, view) => {
    expect(gate(view)).toEqual({ ours: false, reason });
  });
});
