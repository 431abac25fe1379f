/** The part of an AdmissionReview's request that the gate reads. Extra fields do not matter. */
export interface AdmissionRequestView {
  readonly operation: string;
  readonly kind: { readonly group?: string; readonly kind: string };
  readonly resource: { readonly group?: string; readonly resource: string };
  readonly subResource?: string | null;
  readonly namespace?: string | null;
  readonly dryRun?: boolean | null;
  readonly object?: {
    readonly metadata?: { readonly ownerReferences?: readonly OwnerReferenceView[] | null } | null;
    readonly spec?: { readonly nodeName?: string | null } | null;
  } | null;
}

export interface OwnerReferenceView {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean | null;
}

/** The controller that made the pod. A ReplicaSet's own owner is for the caller to find. */
export interface PodOwner {
  readonly kind: 'ReplicaSet' | 'StatefulSet';
  readonly name: string;
  readonly uid: string;
}

export const gateReasons = [
  'NotCreate',
  'NotPod',
  'Subresource',
  'NoNamespace',
  'AlreadyBound',
  'BarePod',
  'OtherOwner',
] as const;

export type GateReason = (typeof gateReasons)[number];

export type GateVerdict =
  | {
      readonly ours: true;
      readonly namespace: string;
      readonly owner: PodOwner;
      /** Decide as usual, but leave no trace. */
      readonly dryRun: boolean;
    }
  | { readonly ours: false; readonly reason: GateReason };

const notOurs = (reason: GateReason): GateVerdict => ({ ours: false, reason });

/** What can be told from the request alone: whether the pod could belong to a managed workload. */
export function gate(request: AdmissionRequestView): GateVerdict {
  if (request.operation !== 'CREATE') return notOurs('NotCreate');
  const isPod =
    request.kind.kind === 'Pod' &&
    (request.kind.group ?? '') === '' &&
    request.resource.resource === 'pods' &&
    (request.resource.group ?? '') === '';
  if (!isPod) return notOurs('NotPod');
  if (request.subResource) return notOurs('Subresource');
  if (!request.namespace) return notOurs('NoNamespace');
  // Past the scheduler: a selector that the node does not meet would make the kubelet refuse the pod.
  if (request.object?.spec?.nodeName) return notOurs('AlreadyBound');
  const owner = request.object?.metadata?.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return notOurs('BarePod');
  if (!owner.apiVersion.startsWith('apps/')) return notOurs('OtherOwner');
  if (owner.kind !== 'ReplicaSet' && owner.kind !== 'StatefulSet') return notOurs('OtherOwner');
  return {
    ours: true,
    namespace: request.namespace,
    owner: { kind: owner.kind, name: owner.name, uid: owner.uid },
    dryRun: request.dryRun === true,
  };
}
