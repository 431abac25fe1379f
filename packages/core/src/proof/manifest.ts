import type { CapacityType } from '../capacity/type.ts';
import { foreignKeys, placeholderKeys } from '../policy/keys.ts';
import type { Resources } from '../cluster/resources.ts';
import { type PlaceholderShape, shapeText } from './shape.ts';

/** Which workload's pod a placeholder stands for, and where it would go. */
export interface PlaceholderSubject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly type: CapacityType;
}

export interface PlaceholderOptions {
  /** Our own. */
  readonly namespace: string;
  readonly image: string;
  /** Of the value `placeholderPriority`. */
  readonly priorityClass: string;
  /** The controller's Deployment, with which all placeholders go; null where it runs without one. */
  readonly owner: { readonly name: string; readonly uid: string } | null;
}

/** By workload and type, so that no second one can be made beside the first. */
export const placeholderName = ({ uid, type }: Pick<PlaceholderSubject, 'uid' | 'type'>): string =>
  `placeholder-${type}-${uid}`;

/** A kubelet ends it then, whatever has become of us. */
const DEADLINE_SECONDS = 1_800;

/** The Pod as it is sent to the API server: a pause that takes the room of another pod. */
export function placeholderManifest(
  subject: PlaceholderSubject,
  shape: PlaceholderShape,
  { namespace, image, priorityClass, owner }: PlaceholderOptions,
) {
  const { nodeSelector, nodeTerms, antiAffinity, tolerations, requests } = shape;
  const affinity = {
    ...(nodeTerms.length > 0 && {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: nodeTerms },
      },
    }),
    ...(antiAffinity.length > 0 && {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: antiAffinity },
    }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: placeholderName(subject),
      namespace,
      labels: {
        'app.kubernetes.io/name': 'spotalis-placeholder',
        'app.kubernetes.io/managed-by': 'spotalis',
        [placeholderKeys.workload]: subject.uid,
        [placeholderKeys.capacityType]: subject.type,
      },
      annotations: {
        [placeholderKeys.standsFor]: `${subject.kind}/${subject.namespace}/${subject.name}`,
        [placeholderKeys.shape]: shapeText(shape),
        // Its node must not be taken away for being nearly empty before the pod that it is kept for is there.
        [foreignKeys.karpenterDoNotDisrupt]: 'true',
        [foreignKeys.safeToEvict]: 'false',
      },
      ...(owner !== null && {
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', ...owner }],
      }),
    },
    spec: {
      priorityClassName: priorityClass,
      // It has nothing to end, and whoever preempts it waits for it.
      terminationGracePeriodSeconds: 0,
      activeDeadlineSeconds: DEADLINE_SECONDS,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      nodeSelector,
      ...(Object.keys(affinity).length > 0 && { affinity }),
      tolerations,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65_535,
        runAsGroup: 65_535,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'pause',
          image,
          resources: resourcesOf(requests),
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  };
}

/** Devices and huge pages cannot be requested without the same limit. */
function resourcesOf(amounts: Resources) {
  const requests: Record<string, string> = {};
  const limits: Record<string, string> = {};
  for (const [name, amount] of Object.entries(amounts)) {
    if (amount <= 0) continue;
    const quantity = name === 'cpu' ? `${amount}m` : String(amount);
    requests[name] = quantity;
    if (name.includes('/') || name.startsWith('hugepages-')) limits[name] = quantity;
  }
  return { requests, ...(Object.keys(limits).length > 0 && { limits }) };
}
