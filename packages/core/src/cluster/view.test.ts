import { describe, expect, it } from '@jest/globals';
import { prunePod, type RawPod } from './observed-pod.ts';
import { pruneReplicaSet } from './replicaset.ts';
import { pruneTemplate } from './template.ts';
import { workloadViewOf } from './view.ts';
import { pruneWorkload } from './observed-workload.ts';

const identity = (name: string, uid: string) => ({ name, namespace: 'shop', uid, resourceVersion: '1' });
const asks = (cpu: string, hostPort?: number) => ({
  containers: [{ resources: { requests: { cpu } }, ...(hostPort && { ports: [{ hostPort }] }) }],
});

const pod = (
  name: string,
  owner: string,
  cpu: string,
  phase = 'Running',
  kind = 'ReplicaSet',
  labels = {},
) => {
  const controller = { apiVersion: 'apps/v1', kind, name: owner, uid: owner, controller: true };
  const raw: RawPod = {
    metadata: { ...identity(name, name), labels, ownerReferences: [controller] },
    spec: asks(cpu),
    status: { phase },
  };
  return prunePod(raw)!;
};

function templateWith(pods: readonly ReturnType<typeof pod>[], hostPort?: number) {
  const workload = pruneWorkload('Deployment')({
    metadata: identity('web', 'web'),
    spec: { replicas: 2 },
    status: {},
  });
  const replicaSet = pruneReplicaSet({
    metadata: identity('web-1', 'web-1'),
    spec: { replicas: 2, template: { spec: asks('100m', hostPort) } },
  });
  const changes = { policyChangedAtMs: null, replicasChangedAtMs: null, podGoneAtMs: null };
  const view = workloadViewOf(workload, { changes, pods, replicaSets: [replicaSet], ledgers: new Map() });
  return view.kind === 'Deployment' ? view.revisions[0]?.template : undefined;
}

describe('the template of a workload', () => {
  it('asks for what its pods were seen to ask for, since admission adds to it', () => {
    expect(templateWith([])?.requests).toEqual({ cpu: 100, pods: 1 });
    const withSidecar = [pod('a', 'web-1', '100m'), pod('b', 'web-1', '350m')];
    expect(templateWith(withSidecar)?.requests).toEqual({ cpu: 350, pods: 1 });
  });

  it('learns nothing from pods of another revision, and from those that have ended', () => {
    const others = [pod('a', 'web-0', '350m'), pod('b', 'web-1', '350m', 'Failed')];
    expect(templateWith(others)?.requests).toEqual({ cpu: 100, pods: 1 });
  });

  it('learns nothing from pods of another revision of a StatefulSet', () => {
    const workload = pruneWorkload('StatefulSet')({
      metadata: identity('db', 'db'),
      spec: { replicas: 3, template: { spec: asks('1') } },
      status: { currentRevision: 'db-old', updateRevision: 'db-new' },
    });
    const ordinal = (name: string, revision: string, cpu: string) =>
      pod(name, 'db', cpu, 'Running', 'StatefulSet', { 'controller-revision-hash': revision });
    const requestsWith = (pods: readonly ReturnType<typeof pod>[]) => {
      const changes = { policyChangedAtMs: null, replicasChangedAtMs: null, podGoneAtMs: null };
      const view = workloadViewOf(workload, { changes, pods, replicaSets: [], ledgers: new Map() });
      return view.kind === 'StatefulSet' ? view.template.requests : undefined;
    };
    const old = [ordinal('db-0', 'db-old', '64'), ordinal('db-1', 'db-old', '64')];
    expect(requestsWith(old)).toEqual({ cpu: 1_000, pods: 1 });
    expect(requestsWith([...old, ordinal('db-2', 'db-new', '1500m')])).toEqual({ cpu: 1_500, pods: 1 });
  });

  it('tells that it takes a port of the node', () => {
    expect([templateWith([])?.hostPort, templateWith([], 443)?.hostPort]).toEqual([false, true]);
    const containers = [{ ports: [{ containerPort: 443 }] }];
    const hostPortOf = (spec: object) => pruneTemplate({ spec }).hostPort;
    expect([hostPortOf({ containers }), hostPortOf({ containers, hostNetwork: true })]).toEqual([
      false,
      true,
    ]);
    expect(hostPortOf({ initContainers: [{ ports: [{ hostPort: 1 }], restartPolicy: 'Always' }] })).toBe(
      true,
    );
  });
});
