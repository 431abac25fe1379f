import { foreignKeys } from '@spotalis/core';
import { REVIEW_VERSION } from '../review/request.ts';

/** Names around the rehearsed pod; no object of these names has to exist. */
export const rehearsedNames = {
  namespace: 'spotalis-rehearsal',
  deployment: 'web',
  replicaSet: 'web-0',
} as const;

export const rehearsedUids = {
  deployment: 'rehearsed-deployment',
  replicaSet: 'rehearsed-replicaset',
} as const;

/** The AdmissionReview of a pod that a ReplicaSet creates. */
export function rehearsedReview(uid: string): object {
  const pods = { group: '', version: 'v1', resource: 'pods' };
  const kind = { group: '', version: 'v1', kind: 'Pod' };
  return {
    kind: 'AdmissionReview',
    apiVersion: REVIEW_VERSION,
    request: {
      uid,
      kind,
      resource: pods,
      requestKind: kind,
      requestResource: pods,
      namespace: rehearsedNames.namespace,
      operation: 'CREATE',
      userInfo: { username: 'system:serviceaccount:kube-system:replicaset-controller' },
      object: {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: {
          generateName: `${rehearsedNames.replicaSet}-`,
          namespace: rehearsedNames.namespace,
          labels: { app: 'web', [foreignKeys.podTemplateHash]: '0' },
          ownerReferences: [
            {
              apiVersion: 'apps/v1',
              kind: 'ReplicaSet',
              name: rehearsedNames.replicaSet,
              uid: rehearsedUids.replicaSet,
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        },
        spec: {
          containers: [
            {
              name: 'app',
              image: 'app',
              resources: { requests: { cpu: '1m', memory: '1Mi' } },
              terminationMessagePath: '/dev/termination-log',
              imagePullPolicy: 'IfNotPresent',
            },
          ],
          restartPolicy: 'Always',
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          serviceAccountName: 'default',
          schedulerName: 'default-scheduler',
          tolerations: ['not-ready', 'unreachable'].map((state) => ({
            key: `node.kubernetes.io/${state}`,
            operator: 'Exists',
            effect: 'NoExecute',
            tolerationSeconds: 300,
          })),
          priority: 0,
          preemptionPolicy: 'PreemptLowerPriority',
        },
        status: {},
      },
      oldObject: null,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  };
}
