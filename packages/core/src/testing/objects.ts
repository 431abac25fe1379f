import type { RawPod } from '../cluster/observed-pod.ts';

interface PodChange {
  readonly ownerKind?: string;
  readonly node?: string;
  /** What admission wrote; none for a pod that it never saw. */
  readonly mark?: {
    readonly token: string;
    readonly type: string;
    readonly rank?: number | string;
    readonly substitute?: boolean;
  };
}

/** A running pod of the ReplicaSet `web-1`, as the API server sends it. */
export function rawPod(name: string, { ownerKind = 'ReplicaSet', node, mark }: PodChange = {}): RawPod {
  const annotations: Record<string, string> = {};
  if (mark !== undefined) {
    annotations['spotalis.io/reservation'] = mark.token;
    annotations['spotalis.io/capacity-type'] = mark.type;
    if (mark.substitute) annotations['spotalis.io/substitute'] = 'true';
    if (mark.rank !== undefined) annotations['spotalis.io/rank'] = String(mark.rank);
  }
  const owner = { apiVersion: 'apps/v1', kind: ownerKind, name: 'web-1', uid: 'web-1-uid', controller: true };
  return {
    metadata: {
      name,
      namespace: 'shop',
      uid: `${name}-uid`,
      resourceVersion: '1',
      annotations,
      ownerReferences: [owner],
    },
    spec: node === undefined ? {} : { nodeName: node },
    status: { phase: 'Running' },
  };
}
