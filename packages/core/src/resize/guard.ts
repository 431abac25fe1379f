import type { Resources } from '../cluster/resources.ts';
import type { ModuleName, ResizePurpose } from '../disruption/intent.ts';
import { type Change, isIncrease, sizeAfter, sizesOf } from './change.ts';
import type { ResizeHold } from './hold.ts';
import { type LimitRangeItem, limitRangeHold, type NamedSize, quotaHold, type QuotaView } from './bounds.ts';
import { type Originals, ownerOf } from './ownership.ts';
import type { ResizableContainer, ResizablePod } from './resizable-pod.ts';
import { qosClassOf } from './quality.ts';

/** The pod's node, as far as a resize depends on it. */
export interface ResizeNode {
  readonly name: string;
  /** Cordoned, draining, interrupted or not Ready. */
  readonly leaving: boolean;
  readonly allocatable: Resources;
  /** Allocatable less what every pod on it takes, this one included: the most of spec, allocated and actual. */
  readonly free: Resources;
}

/** What is known around a pod when it is resized. */
export interface ResizeSurroundings {
  /** Whether the API server has `pods/resize`, by discovery. */
  readonly supported: boolean;
  /** Whether the server lets a memory limit be lowered without a restart: 1.34 and later. */
  readonly lowersMemoryLimits: boolean;
  /** Null where it is not known: then its room is left to the kubelet. */
  readonly node: ResizeNode | null;
  /** Somebody is about to move the pod. */
  readonly podLeaves: boolean;
  readonly limitRanges: readonly LimitRangeItem[];
  readonly quotas: readonly QuotaView[];
  /** The newest sample of each container, in bytes. */
  readonly memoryUsed: ReadonlyMap<string, number>;
  /** Whether allocation may lend CPU to the container. */
  readonly allocationCovers: (container: string) => boolean;
}

export interface ResizeAsker {
  readonly module: ModuleName;
  readonly purpose: ResizePurpose;
}

/** A memory limit is lowered only where less than this share of it is in use. */
const CALM_MEMORY = 0.8;

/** Why these changes must not be sent, all in one patch; null when they may. */
export function holdOf(
  pod: ResizablePod,
  changes: readonly Change[],
  originals: Originals | null,
  asker: ResizeAsker,
  surroundings: ResizeSurroundings,
): ResizeHold | null {
  const owners = { covers: surroundings.allocationCovers, originals };
  const grows = changes.some(isIncrease);
  return (
    podHold(pod, surroundings) ??
    leavingHold(grows && asker.purpose !== 'restore', surroundings) ??
    firstOf(changes, (change) => {
      const { container, field, resource } = change;
      const owner = ownerOf(container, field, resource, owners);
      if (owner !== asker.module) return { reason: 'NotOwned', container, resource, owner };
      return changeHold(pod, change, originals, asker, surroundings);
    }) ??
    shapeHold(pod, changes, surroundings) ??
    roomHold(pod, changes, surroundings.node)
  );
}

function podHold(pod: ResizablePod, { supported }: ResizeSurroundings): ResizeHold | null {
  const { phase, terminating, isStatic, isWindows, hasOwnSize, qos } = pod;
  if (terminating) return { reason: 'PodLeaving' };
  if (phase !== 'Running') return { reason: 'PodNotRunning', phase };
  if (isStatic) return { reason: 'StaticPod' };
  if (isWindows) return { reason: 'WindowsPod' };
  if (hasOwnSize) return { reason: 'PodLevelResources' };
  // Only requests and limits make another class of it, so none that it could get keeps it.
  if (qos === 'BestEffort') return { reason: 'QosClass', from: qos, to: 'Burstable' };
  return supported ? null : { reason: 'ResizeUnsupported', by: 'server' };
}

function leavingHold(grows: boolean, { podLeaves, node }: ResizeSurroundings): ResizeHold | null {
  if (!grows) return null;
  if (podLeaves) return { reason: 'PodLeaving' };
  return node?.leaving === true ? { reason: 'NodeLeaving', node: node.name } : null;
}

function changeHold(
  pod: ResizablePod,
  change: Change,
  originals: Originals | null,
  { module, purpose }: ResizeAsker,
  { lowersMemoryLimits, memoryUsed }: ResizeSurroundings,
): ResizeHold | null {
  const { container, field, resource, from, to } = change;
  const found = pod.containers.find(({ name }) => name === container);
  if (found === undefined) return { reason: 'NotResizable', container, kind: 'none' };
  const { kind, actual, restartsFor } = found;
  if (kind === 'init' || kind === 'ephemeral') return { reason: 'NotResizable', container, kind };
  if (resource !== 'cpu' && resource !== 'memory') return { reason: 'UnknownResource', container, resource };
  if (from === null) return { reason: 'AmountAdded', container, resource, field };
  if (actual === null) return { reason: 'ResizeUnsupported', by: 'node' };
  if (restartsFor.includes(resource)) return { reason: 'RestartRequired', container, resource };
  if (module === 'allocation') {
    if (originals === null) return { reason: 'OriginalUnknown' };
    // The original is what is found at the first loan.
    const original = originals.get(container) ?? from;
    if (to < original) return { reason: 'BelowOriginal', container, resource, original, to };
  }
  if (field === 'limits' && resource === 'memory' && to < from) {
    if (!lowersMemoryLimits) return { reason: 'MemoryLimitFixed', container };
    const used = memoryUsed.get(container) ?? null;
    // Giving back needs no evidence: the kubelet looks for itself, and what it refuses is taken back.
    const isCalm = used === null ? purpose === 'restore' : used < to * CALM_MEMORY;
    if (!isCalm) return { reason: 'MemoryInUse', container, used, to };
  }
  return null;
}

/** What the API server asks of all containers together. */
function shapeHold(
  pod: ResizablePod,
  changes: readonly Change[],
  { limitRanges, quotas }: ResizeSurroundings,
): ResizeHold | null {
  const sizes = sizesOf(changes);
  const permanent = pod.containers.filter(({ kind }) => kind !== 'ephemeral');
  const after: NamedSize[] = permanent.map((one) => ({
    name: one.name,
    size: sizeAfter(one, sizes.get(one.name)),
  }));
  for (const { name, size } of after) {
    for (const [resource, limit] of Object.entries(size.limits)) {
      const request = size.requests[resource] ?? 0;
      if (request > limit) return { reason: 'RequestAboveLimit', container: name, resource, request, limit };
    }
  }
  const to = qosClassOf(after.map(({ size }) => size));
  if (to !== pod.qos) return { reason: 'QosClass', from: pod.qos, to };
  const before: NamedSize[] = permanent.map(({ name, spec }) => ({ name, size: spec }));
  return limitRangeHold(after, limitRanges) ?? quotaHold(before, after, quotas);
}

/** An increase that the kubelet cannot grant now would wait, and hold up other pods of the node meanwhile. */
function roomHold(pod: ResizablePod, changes: readonly Change[], node: ResizeNode | null): ResizeHold | null {
  if (node === null) return null;
  const sizes = sizesOf(changes);
  const running = pod.containers.filter(({ kind }) => kind === 'container' || kind === 'sidecar');
  for (const resource of new Set(changes.filter(isRequest).map((change) => change.resource))) {
    const total = (of: (container: ResizableContainer) => number): number =>
      running.reduce((sum, container) => sum + of(container), 0);
    const takes = total((one) => taken(one, resource));
    const needed = total((one) => sizeAfter(one, sizes.get(one.name)).requests[resource] ?? 0);
    if (needed <= takes) continue;
    const has = node.allocatable[resource] ?? 0;
    const at = { node: node.name, resource };
    if (needed > has) return { reason: 'NodeTooSmall', ...at, has, needed };
    const free = node.free[resource] ?? 0;
    if (needed - takes > free) return { reason: 'NodeFull', ...at, has: free, needed: needed - takes };
  }
  return null;
}

const isRequest = ({ field }: Change): boolean => field === 'requests';

/** What the scheduler and the kubelet count for a container while a resize is under way. */
function taken({ spec, allocated, actual }: ResizableContainer, resource: string): number {
  return Math.max(spec.requests[resource] ?? 0, allocated?.[resource] ?? 0, actual?.requests[resource] ?? 0);
}

function firstOf<T>(items: readonly T[], hold: (item: T) => ResizeHold | null): ResizeHold | null {
  for (const item of items) {
    const found = hold(item);
    if (found !== null) return found;
  }
  return null;
}
