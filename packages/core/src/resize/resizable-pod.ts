import type { RawIdentified, RawMetadata } from '../cluster/metadata.ts';
import { type Quantities, readAmounts, type Resources } from '../cluster/resources.ts';
import type { Size } from '../cluster/size.ts';
import { type Annotations, foreignKeys } from '../policy/keys.ts';
import { type QosClass, qosClassOf } from './quality.ts';

interface RawResources {
  readonly requests?: Quantities | null;
  readonly limits?: Quantities | null;
}

interface RawContainer {
  readonly name: string;
  readonly restartPolicy?: string | null;
  readonly resources?: RawResources | null;
  readonly resizePolicy?: readonly { readonly resourceName: string; readonly restartPolicy: string }[] | null;
}

interface RawContainerStatus {
  readonly name: string;
  readonly resources?: RawResources | null;
  readonly allocatedResources?: Quantities | null;
}

interface RawCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The part of a Pod that a resize in place depends on, as the API server sends it. */
export interface RawResizablePod extends RawIdentified {
  readonly metadata: RawMetadata & {
    readonly managedFields?: readonly {
      readonly manager?: string;
      readonly subresource?: string;
      readonly time?: string;
    }[];
  };
  readonly spec?: {
    readonly nodeName?: string;
    readonly os?: { readonly name?: string } | null;
    readonly resources?: RawResources | null;
    readonly containers?: readonly RawContainer[] | null;
    readonly initContainers?: readonly RawContainer[] | null;
    readonly ephemeralContainers?: readonly { readonly name: string }[] | null;
  };
  readonly status?: {
    readonly phase?: string;
    readonly qosClass?: string;
    readonly observedGeneration?: number;
    readonly conditions?: readonly RawCondition[] | null;
    readonly containerStatuses?: readonly RawContainerStatus[] | null;
    readonly initContainerStatuses?: readonly RawContainerStatus[] | null;
  };
}

export interface ResizableContainer {
  readonly name: string;
  /** Init containers that end, and ephemeral ones, cannot be resized. */
  readonly kind: 'container' | 'sidecar' | 'init' | 'ephemeral';
  readonly spec: Size;
  /** What the kubelet has set aside; null where it does not say. Requests only: the API has no more. */
  readonly allocated: Resources | null;
  /** What the runtime enforces; null where the kubelet does not say, and then it cannot resize either. */
  readonly actual: Size | null;
  /** Resources whose change restarts the container. */
  readonly restartsFor: readonly string[];
}

/** What the kubelet says about a resize that is not carried out. */
export interface ResizeCondition {
  readonly reason: string;
  readonly message: string;
}

/** What is kept of a pod to resize it. */
export interface ResizablePod {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number | null;
  /** Up to which generation the kubelet has seen the pod; null before 1.34. */
  readonly observedGeneration: number | null;
  readonly annotations: Annotations;
  readonly node: string | null;
  readonly phase: string;
  readonly terminating: boolean;
  readonly isStatic: boolean;
  readonly isWindows: boolean;
  /** The pod as a whole has requests or limits. */
  readonly hasOwnSize: boolean;
  readonly qos: QosClass;
  readonly containers: readonly ResizableContainer[];
  /** `PodResizePending`: Deferred or Infeasible. */
  readonly pending: ResizeCondition | null;
  /** `PodResizeInProgress`, with the reason `Error` where the kubelet tries in vain. */
  readonly inProgress: ResizeCondition | null;
  /** The field manager of the latest resize; null where there was none, or the pod was read without managed fields. */
  readonly lastResizedBy: string | null;
}

export function readResizablePod(raw: RawResizablePod): ResizablePod {
  const { metadata, spec = {}, status = {} } = raw;
  const { name, namespace = '', uid, resourceVersion, annotations = {} } = metadata;
  const statuses = new Map(
    [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].map((one) => [
      one.name,
      one,
    ]),
  );
  const containers = [
    ...(spec.initContainers ?? []).map((one) =>
      containerOf(one, one.restartPolicy === 'Always' ? 'sidecar' : 'init', statuses),
    ),
    ...(spec.containers ?? []).map((one) => containerOf(one, 'container', statuses)),
  ];
  const ephemeral = (spec.ephemeralContainers ?? []).map((one) => containerOf(one, 'ephemeral', statuses));
  return {
    name,
    namespace,
    uid,
    resourceVersion,
    generation: metadata.generation ?? null,
    observedGeneration: status.observedGeneration ?? null,
    annotations,
    node: spec.nodeName || null,
    phase: status.phase ?? 'Pending',
    terminating: metadata.deletionTimestamp !== undefined,
    isStatic:
      annotations[foreignKeys.mirror] !== undefined ||
      (metadata.ownerReferences ?? []).some(({ kind, controller }) => kind === 'Node' && controller === true),
    isWindows: spec.os?.name === 'windows',
    hasOwnSize: [spec.resources?.requests, spec.resources?.limits].some(
      (amounts) => Object.keys(amounts ?? {}).length > 0,
    ),
    qos: writtenQos(status.qosClass) ?? qosClassOf(containers.map((one) => one.spec)),
    containers: [...containers, ...ephemeral],
    pending: conditionOf(status.conditions, 'PodResizePending'),
    inProgress: conditionOf(status.conditions, 'PodResizeInProgress'),
    lastResizedBy: lastResizedBy(metadata),
  };
}

function containerOf(
  { name, resources, resizePolicy }: RawContainer,
  kind: ResizableContainer['kind'],
  statuses: ReadonlyMap<string, RawContainerStatus>,
): ResizableContainer {
  const status = statuses.get(name);
  return {
    name,
    kind,
    spec: sizeOf(resources),
    allocated: status?.allocatedResources ? readAmounts(status.allocatedResources) : null,
    actual: status?.resources ? sizeOf(status.resources) : null,
    restartsFor: (resizePolicy ?? [])
      .filter(({ restartPolicy }) => restartPolicy === 'RestartContainer')
      .map(({ resourceName }) => resourceName),
  };
}

const sizeOf = (resources: RawResources | null | undefined): Size => ({
  requests: readAmounts(resources?.requests),
  limits: readAmounts(resources?.limits),
});

/** Times have seconds only, so of two resizes within one the later entry counts. */
function lastResizedBy({ managedFields = [] }: RawResizablePod['metadata']): string | null {
  let latest: { readonly manager: string; readonly time: string } | null = null;
  for (const { manager = '', subresource, time = '' } of managedFields) {
    if (subresource === 'resize' && time >= (latest?.time ?? '')) latest = { manager, time };
  }
  return latest?.manager ?? null;
}

function conditionOf(
  conditions: readonly RawCondition[] | null | undefined,
  type: string,
): ResizeCondition | null {
  const found = conditions?.find((one) => one.type === type && one.status === 'True');
  if (found === undefined) return null;
  return { reason: found.reason ?? '', message: found.message ?? '' };
}

const qosClasses: readonly QosClass[] = ['Guaranteed', 'Burstable', 'BestEffort'];

const writtenQos = (text: string | undefined): QosClass | undefined => qosClasses.find((one) => one === text);
