import { resolveFraction } from '../cluster/fraction.ts';
import { referenceTo } from '../cluster/reference.ts';
import type { Resources } from '../cluster/resources.ts';
import type { Size, Sizes } from '../cluster/size.ts';
import { type EvictIntent, type Intent, ranks, type ResizeIntent } from '../disruption/intent.ts';
import { isOpen } from '../disruption/window.ts';
import { type Change, changesOf, isIncrease, sizesOf } from '../resize/change.ts';
import type { ContainerTrace } from './container.ts';
import { sizedResources } from './evidence/point.ts';
import type { PodReason } from './reason.ts';
import type { Sizing } from './sizing.ts';
import type { RightsizingSnapshot, SizedPod } from './snapshot.ts';
import { requestFor } from './target.ts';

/** A pod is evicted to grow only where it gains this much. */
const WORTH_AN_EVICTION = 1.25;

/** What becomes of one pod. */
export interface PodTrace {
  readonly name: string;
  readonly uid: string;
  readonly reason: PodReason;
  /** Why it cannot be resized in place; null: it can, or need not. */
  readonly obstacle: 'NotAllowed' | 'Unsupported' | 'Restart' | null;
  /** What differs from its spec. */
  readonly changes: readonly Change[];
}

interface Wish extends PodTrace {
  readonly sized: SizedPod;
  readonly intent: 'resize' | 'evict' | null;
  readonly urgent: boolean;
  /** How much is missing, as a share of what is there; 0 where nothing grows. */
  readonly shortfall: number;
}

export interface PodDecisions {
  readonly traces: readonly PodTrace[];
  readonly intents: readonly Intent[];
  /** What the pods should request by their own usage. */
  readonly own: readonly Resources[];
}

/** Which pods ask for which size, and why the others do not. `applies` is false where nothing may be written. */
export function decidePods(
  snapshot: RightsizingSnapshot,
  sizing: Sizing,
  containers: readonly ContainerTrace[],
  applies: boolean,
  nowMs: number,
): PodDecisions {
  const living = snapshot.pods.filter(({ pod }) => pod.phase === 'Running' && !pod.terminating);
  const canaries = canariesOf(living, sizing);
  const wishes = living.map((sized) =>
    wishOf(sized, canaries.has(sized.pod.uid), snapshot, sizing, containers, nowMs),
  );
  const underWay = living.filter(({ pod }) => pod.pending !== null || pod.inProgress !== null).length;
  const most = Math.max(1, resolveFraction(sizing.maxConcurrentPods, living.length, 'down') ?? 1);
  const chosen = applies ? choose(wishes, most - underWay) : new Set<Wish>();
  const traces = wishes.map((wish) => {
    const { name, uid, reason, obstacle, changes } = wish;
    const waits = applies && wish.intent !== null && !chosen.has(wish);
    return { name, uid, reason: waits ? ('PodBudgetSpent' as const) : reason, obstacle, changes };
  });
  return {
    traces,
    intents: [...chosen].map((wish) => intentOf(wish, snapshot, nowMs)),
    own: living
      .filter(({ own }) => own.size > 0)
      .map((sized) => ownTotal(sized, snapshot, sizing, containers, nowMs)),
  };
}

/** The same pods each time: the first by name. */
function canariesOf(living: readonly SizedPod[], { limits }: Sizing): ReadonlySet<string> {
  const percent = limits?.canary.percent ?? 100;
  const count = Math.max(1, Math.ceil((living.length * percent) / 100));
  const byName = living.toSorted(
    (one, other) => Number(one.pod.name > other.pod.name) - Number(one.pod.name < other.pod.name),
  );
  return new Set(byName.slice(0, count).map(({ pod }) => pod.uid));
}

/** Those that ran out of memory first, then those that lack most. Of evictions there is one at a time. */
function choose(wishes: readonly Wish[], room: number): ReadonlySet<Wish> {
  const ordered = wishes
    .filter(({ intent }) => intent !== null)
    .toSorted((one, other) => Number(other.urgent) - Number(one.urgent) || other.shortfall - one.shortfall);
  const chosen = new Set<Wish>();
  let evictions = 0;
  for (const wish of ordered) {
    if (chosen.size >= room) break;
    if (wish.intent === 'evict' && evictions++ > 0) continue;
    chosen.add(wish);
  }
  return chosen;
}

function wishOf(
  sized: SizedPod,
  isCanary: boolean,
  snapshot: RightsizingSnapshot,
  sizing: Sizing,
  containers: readonly ContainerTrace[],
  nowMs: number,
): Wish {
  const { pod } = sized;
  const all = changesOf(pod, wantedSizes(sized, isCanary, snapshot, sizing, containers, nowMs));
  const mayFall = sizing.window === null || isOpen(sizing.window, nowMs);
  const changes = mayFall ? all : all.filter(isIncrease);
  const urgent = changes.some(
    (change) => change.resource === 'memory' && isIncrease(change) && sized.outOfMemory.has(change.container),
  );
  const shortfall = Math.max(0, ...changes.map(({ from, to }) => to / Math.max(1, from ?? 0) - 1));
  const base = { name: pod.name, uid: pod.uid, changes, sized, urgent, shortfall };
  const method = methodFor(sized, changes, urgent, shortfall, snapshot, sizing);
  return { ...base, ...method };
}

type Method = Pick<Wish, 'reason' | 'intent' | 'obstacle'>;

function methodFor(
  { pod, refused }: SizedPod,
  changes: readonly Change[],
  urgent: boolean,
  shortfall: number,
  { resizeSupported }: RightsizingSnapshot,
  { inPlace, recreate, applyTo }: Sizing,
): Method {
  if (changes.length === 0) return { reason: 'AtTarget', intent: null, obstacle: null };
  if (pod.isStatic || pod.isWindows || pod.hasOwnSize || pod.qos === 'BestEffort')
    return { reason: 'PodNotResizable', intent: null, obstacle: null };
  // With a template of its own size each pod gets it by the rollout.
  if (applyTo === 'Template')
    return { reason: recreate ? 'Recreating' : 'RecreateNotAllowed', intent: null, obstacle: null };
  const restarts = changes.some(({ container, resource }) =>
    pod.containers.some(({ name, restartsFor }) => name === container && restartsFor.includes(resource)),
  );
  const isCapable = resizeSupported && !refused;
  if (inPlace && isCapable && !restarts) return { reason: 'Resizing', intent: 'resize', obstacle: null };
  const obstacle = !inPlace ? 'NotAllowed' : isCapable ? 'Restart' : 'Unsupported';
  if (!recreate) return { reason: 'RecreateNotAllowed', intent: null, obstacle };
  const isWorthIt = !resizeSupported || urgent || 1 + shortfall >= WORTH_AN_EVICTION;
  return isWorthIt
    ? { reason: 'Recreating', intent: 'evict', obstacle }
    : { reason: 'RecreateNotWorthIt', intent: null, obstacle };
}

/** Nothing changes where usage is not known: neither way, but for a limit that an OOM raises. */
const isKnown = ({ requests }: ContainerTrace): boolean =>
  sizedResources.some((resource) => !unknown.has(requests[resource].reason));
const unknown: ReadonlySet<string> = new Set(['MissingMetrics', 'InsufficientData', 'ContainerOff']);

function wantedSizes(
  sized: SizedPod,
  isCanary: boolean,
  snapshot: RightsizingSnapshot,
  sizing: Sizing,
  containers: readonly ContainerTrace[],
  nowMs: number,
): Sizes {
  const sizes = new Map<string, Size>();
  for (const trace of containers) {
    const spec = sized.pod.containers.find(({ name }) => name === trace.name)?.spec;
    if (spec === undefined || trace.requests.cpu.reason === 'ContainerOff') continue;
    const limits = limitsFor(trace, spec, isCanary, snapshot, sizing);
    const requests = isKnown(trace) ? requestsOf(sized, trace, spec, snapshot, sizing, nowMs) : {};
    sizes.set(trace.name, { requests: within(requests, { ...spec.limits, ...limits }), limits });
  }
  return sizes;
}

const within = (requests: Resources, limits: Resources): Resources =>
  Object.fromEntries(
    Object.entries(requests).map(([resource, amount]) => [
      resource,
      Math.min(amount, limits[resource] ?? amount),
    ]),
  );

/** By its own usage where that is known, else the target. What the pod does not request is not added. */
function requestsOf(
  sized: SizedPod,
  trace: ContainerTrace,
  spec: Size,
  snapshot: RightsizingSnapshot,
  sizing: Sizing,
  nowMs: number,
): Resources {
  const own = sized.own.get(trace.name) ?? null;
  return Object.fromEntries(
    sizedResources.flatMap((resource) => {
      const before = spec.requests[resource];
      const target = trace.target.requests[resource];
      if (before === undefined || target === undefined) return [];
      const { reason } = trace.requests[resource];
      const isLeft = reason === 'HPAOnCPU' || reason === 'HPAOnMemory' || reason === 'ManagedByVpa';
      if (isLeft) return [];
      if (own === null || sized.pod.qos === 'Guaranteed') return [[resource, target]];
      const asked = requestFor(
        {
          resource,
          before,
          usage: own,
          recentPeak: 0,
          evictionFloor: trace.memory.eviction?.memory ?? null,
          autoscaler: null,
          limitRanges: snapshot.limitRanges,
          largestNode: snapshot.largestNode?.[resource] ?? null,
          limit: trace.target.limits[resource] ?? null,
          templateSinceMs: trace.memory.templateSinceMs,
          recent: null,
        },
        { ...sizing, stabilizationMs: 0 },
        nowMs,
      );
      return [[resource, asked.target ?? before]];
    }),
  );
}

/** Only limits that the pod has. They fall with Follow alone, or together with the requests of a Guaranteed pod. */
function limitsFor(
  trace: ContainerTrace,
  spec: Size,
  isCanary: boolean,
  { lent }: RightsizingSnapshot,
  { limits: rules }: Sizing,
): Resources {
  if (rules === null) return {};
  const { canary } = trace.memory.limits;
  return Object.fromEntries(
    sizedResources.flatMap((resource) => {
      const before = spec.limits[resource];
      const target = trace.target.limits[resource];
      if (before === undefined || target === undefined || rules[resource] === 'Keep') return [];
      if (resource === 'cpu' && lent.has(trace.name)) return [];
      const wanted = resource === 'memory' && isCanary && canary !== null ? canary.limit : target;
      const isEqual = trace.target.requests[resource] === target;
      const falls = isKnown(trace) && (rules[resource] === 'Follow' || isEqual);
      return [[resource, falls ? wanted : Math.max(before, wanted)]];
    }),
  );
}

function ownTotal(
  sized: SizedPod,
  snapshot: RightsizingSnapshot,
  sizing: Sizing,
  containers: readonly ContainerTrace[],
  nowMs: number,
): Resources {
  const total = { cpu: 0, memory: 0 };
  for (const trace of containers) {
    const spec = sized.pod.containers.find(({ name }) => name === trace.name)?.spec;
    if (spec === undefined) continue;
    const requests = requestsOf(sized, trace, spec, snapshot, sizing, nowMs);
    for (const resource of sizedResources)
      total[resource] += requests[resource] ?? spec.requests[resource] ?? 0;
  }
  return total;
}

function intentOf(
  { sized, intent, changes, urgent }: Wish,
  { workload }: RightsizingSnapshot,
  nowMs: number,
): ResizeIntent | EvictIntent {
  const { pod } = sized;
  const { kind, namespace, name, uid } = workload;
  const base = {
    id: `rightsizing/${pod.uid}`,
    module: 'rightsizing',
    rank: ranks.rightSizing,
    subject: `rightsizing/${kind}/${namespace}/${name}`,
    sinceMs: nowMs,
    workload: { uid, namespace },
    pod: referenceTo(pod),
  } as const;
  if (intent === 'evict') return { ...base, kind: 'evict', node: pod.node };
  return { ...base, kind: 'resize', purpose: urgent ? 'outOfMemory' : 'size', to: sizesOf(changes) };
}
