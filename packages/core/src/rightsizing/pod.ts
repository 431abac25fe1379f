import { resolveFraction } from '../cluster/fraction.ts';
import { referenceTo } from '../cluster/reference.ts';
import type { Resources } from '../cluster/resources.ts';
import type { Size, Sizes } from '../cluster/size.ts';
import { type EvictIntent, type Intent, ranks, type ResizeIntent } from '../disruption/intent.ts';
import { isOpen } from '../disruption/window.ts';
import { type Change, changesOf, isIncrease, sizeAfter, sizesOf } from '../resize/change.ts';
import { qosClassOf } from '../resize/quality.ts';
import type { ResizablePod } from '../resize/resizable-pod.ts';
import type { ContainerTrace } from './container.ts';
import { type SizedResource, sizedResources } from './evidence/point.ts';
import type { PodReason } from './reason.ts';
import type { LimitRules, Sizing } from './sizing.ts';
import type { RightsizingSnapshot, SizedPod } from './snapshot.ts';
import { requestFor, type RequestTrace } from './target.ts';

/** A pod is evicted to grow only where it gains this much. */
const WORTH_AN_EVICTION = 1.25;

type OwnTrace = Readonly<Record<SizedResource, RequestTrace>>;
type OwnTraces = ReadonlyMap<string, OwnTrace>;

/** What becomes of one pod. */
export interface PodTrace {
  readonly name: string;
  readonly uid: string;
  readonly reason: PodReason;
  /** Why it cannot be resized in place; null: it can, or need not. */
  readonly obstacle: 'NotAllowed' | 'Unsupported' | 'Restart' | null;
  /** With PerPod, how its own requests come about, by container. */
  readonly own: OwnTraces;
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
    const { name, uid, reason, obstacle, own, changes } = wish;
    const waits = applies && wish.intent !== null && !chosen.has(wish);
    return { name, uid, reason: waits ? ('PodBudgetSpent' as const) : reason, obstacle, own, changes };
  });
  return {
    traces,
    intents: [...chosen].map((wish) => intentOf(wish, snapshot, nowMs)),
    own: wishes.filter(({ own }) => own.size > 0).map(({ sized, own }) => ownTotal(sized, own)),
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
  const own = ownTraces(sized, snapshot, sizing, containers, nowMs);
  const all = changesOf(pod, wantedSizes(sized, isCanary, own, snapshot, sizing, containers));
  const mayFall = sizing.window === null || isOpen(sizing.window, nowMs);
  const changes = mayFall ? all : all.filter(isIncrease);
  const urgent = changes.some(
    (change) => change.resource === 'memory' && isIncrease(change) && sized.outOfMemory.has(change.container),
  );
  const shortfall = Math.max(0, ...changes.map(({ from, to }) => to / Math.max(1, from ?? 0) - 1));
  const base = { name: pod.name, uid: pod.uid, own, changes, sized, urgent, shortfall };
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
  own: OwnTraces,
  { lent }: RightsizingSnapshot,
  { limits: rules }: Sizing,
  containers: readonly ContainerTrace[],
): Sizes {
  const { pod } = sized;
  const sizes = new Map<string, Size>();
  for (const trace of containers) {
    const spec = pod.containers.find(({ name }) => name === trace.name)?.spec;
    if (spec === undefined || trace.requests.cpu.reason === 'ContainerOff') continue;
    const limits = limitsFor(trace, spec, isCanary, lent, rules);
    const requests = isKnown(trace) ? requestsOf(trace, spec, own.get(trace.name)) : {};
    // Of a Guaranteed pod both are one amount, or it would be of another class.
    const size = pod.qos === 'Guaranteed' ? limits : within(requests, { ...spec.limits, ...limits });
    sizes.set(trace.name, { requests: size, limits });
  }
  return keepClass(pod, sizes);
}

/** A pod whose requests all reach their limits would be Guaranteed, which no resize can make it: one unit less. */
function keepClass(pod: ResizablePod, sizes: Sizes): Sizes {
  const permanent = pod.containers.filter(({ kind }) => kind !== 'ephemeral');
  const after = permanent.map((one) => sizeAfter(one, sizes.get(one.name)));
  if (qosClassOf(after) === pod.qos) return sizes;
  const moved = changesOf(pod, sizes).find(({ field }) => field === 'requests');
  const size = moved && sizes.get(moved.container);
  // The limits reach down to requests that stay: then these stay as well.
  if (moved === undefined || size === undefined) return new Map();
  const requests = { ...size.requests, [moved.resource]: moved.to - 1 };
  return new Map([...sizes, [moved.container, { ...size, requests }]]);
}

const within = (requests: Resources, limits: Resources): Resources =>
  Object.fromEntries(
    Object.entries(requests).map(([resource, amount]) => [
      resource,
      Math.min(amount, limits[resource] ?? amount),
    ]),
  );

/** By its own usage where that is known, else the target. What the pod does not request is not added. */
function requestsOf(trace: ContainerTrace, spec: Size, own: OwnTrace | undefined): Resources {
  return Object.fromEntries(
    sizedResources.flatMap((resource) => {
      const before = spec.requests[resource];
      const target = trace.target.requests[resource];
      if (before === undefined || target === undefined) return [];
      if (isForeign(trace, resource)) return [];
      return [[resource, own?.[resource].target ?? target]];
    }),
  );
}

/** An autoscaler counts on the request, or writes it. */
const isForeign = ({ requests }: ContainerTrace, resource: SizedResource): boolean =>
  foreign.has(requests[resource].reason);
const foreign: ReadonlySet<string> = new Set(['HPAOnCPU', 'HPAOnMemory', 'ManagedByVpa']);

/** The steps of a target with the pod's own usage, from what the pod has. */
function ownTraces(
  { pod, own, recent }: SizedPod,
  snapshot: RightsizingSnapshot,
  sizing: Sizing,
  containers: readonly ContainerTrace[],
  nowMs: number,
): OwnTraces {
  const traces = new Map<string, OwnTrace>();
  for (const trace of containers) {
    const usage = own.get(trace.name);
    const spec = pod.containers.find(({ name }) => name === trace.name)?.spec;
    if (usage === undefined || spec === undefined) continue;
    const ask = (resource: SizedResource): RequestTrace =>
      requestFor(
        {
          resource,
          before: spec.requests[resource] ?? null,
          usage,
          recentPeak: 0,
          evictionFloor: trace.memory.eviction?.memory ?? null,
          autoscaler: null,
          limitRanges: snapshot.limitRanges,
          largestNode: snapshot.largestNode?.[resource] ?? null,
          limit: trace.target.limits[resource] ?? null,
          templateSinceMs: trace.memory.templateSinceMs,
          recent: recent.get(trace.name)?.[resource] ?? null,
        },
        sizing,
        nowMs,
      );
    traces.set(trace.name, { cpu: ask('cpu'), memory: ask('memory') });
  }
  return traces;
}

/** Only limits that the pod has. They fall with Follow alone, or together with the requests of a Guaranteed pod. */
function limitsFor(
  trace: ContainerTrace,
  spec: Size,
  isCanary: boolean,
  lent: ReadonlySet<string>,
  rules: LimitRules | null,
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
      const isOurs = isKnown(trace) && !isForeign(trace, resource);
      const falls = isOurs && (rules[resource] === 'Follow' || isEqual);
      return [[resource, falls ? wanted : Math.max(before, wanted)]];
    }),
  );
}

/** What the pod should request in all by its own usage. */
function ownTotal({ pod }: SizedPod, own: OwnTraces): Resources {
  const total = { cpu: 0, memory: 0 };
  for (const { name, spec } of pod.containers) {
    for (const resource of sizedResources)
      total[resource] += own.get(name)?.[resource].target ?? spec.requests[resource] ?? 0;
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
