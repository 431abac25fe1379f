import { foreignKeys } from '@spotalis/core';
import { REVIEW_VERSION } from '../review/request.ts';

/** The home of the pod that is never made; nothing of that name has to exist. */
export const nowhere = { namespace: 'spotalis-rehearsal', deployment: 'web', replicaSet: 'web-0' } as const;

export const nobody = { deployment: 'rehearsed-deployment', replicaSet: 'rehearsed-replicaset' } as const;

/** The AdmissionReview of a pod as a ReplicaSet asks for it. */
export function reviewOfNoPod(uid: string): object {
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
      namespace: nowhere.namespace,
      operation: 'CREATE',
      userInfo: { username: 'system:serviceaccount:kube-system:replicaset-controller' },
      object: {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: {
          generateName: `${nowhere.replicaSet}-`,
          namespace: nowhere.namespace,
          labels: { app: 'web', [foreignKeys.podTemplateHash]: '0' },
          ownerReferences: [
            {
              apiVersion: 'apps/v1',
              kind: 'ReplicaSet',
              name: nowhere.replicaSet,
              uid: nobody.replicaSet,
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
