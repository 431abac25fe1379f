import { isOpen } from '../disruption/window.ts';
import type { Resources } from '../cluster/resources.ts';
import type { Size } from '../cluster/size.ts';
import { type QosClass, qosClassOf } from '../resize/quality.ts';
import { noPeaks, peakOf, withPeak } from './evidence/daily.ts';
import { type SizedResource, sizedResources } from './evidence/point.ts';
import type { ContainerUsage } from './evidence/usage.ts';
import {
  capOf,
  cpuLimitFor,
  type LimitQuestion,
  type LimitTrace,
  memoryLimitFor,
  noLimitMemory,
} from './limit.ts';
import type { ContainerMemory } from './memory.ts';
import type { AmountReason } from './reason.ts';
import { isSized, type Sizing } from './sizing.ts';
import type { RightsizingSnapshot, TemplateContainer } from './snapshot.ts';
import { requestFor, type RequestTrace } from './target.ts';

const DAY_MS = 86_400_000;
const EVICTION_COUNTS_MS = 7 * DAY_MS;
/** What memory of a Guaranteed pod is by its long peak: its limit cannot be above its request. */
const PEAK_ROOM = 1.2;

/** How the target of one container comes about. */
export interface ContainerTrace {
  readonly name: string;
  readonly usage: ContainerUsage | null;
  readonly requests: Readonly<Record<SizedResource, RequestTrace>>;
  readonly limits: Readonly<Record<SizedResource, LimitTrace>>;
  readonly template: Size;
  readonly before: Size;
  readonly target: Size;
  /** The template has other requests than those that the target began with. */
  readonly templateChanged: boolean;
  readonly memory: ContainerMemory;
}

const sameAmounts = (one: Resources, other: Resources): boolean =>
  sizedResources.every((resource) => one[resource] === other[resource]);

/** The part of a size that is ours. */
const ours = ({ requests, limits }: Size): Size => ({ requests: pick(requests), limits: pick(limits) });
const pick = (amounts: Resources): Resources =>
  Object.fromEntries(
    sizedResources.flatMap((resource) =>
      amounts[resource] === undefined ? [] : [[resource, amounts[resource]]],
    ),
  );

/** The traces of all containers that right-sizing looks at. The class of the pod stays what the template makes it. */
export function sizeContainers(
  snapshot: RightsizingSnapshot,
  sizing: Sizing,
  nowMs: number,
): readonly ContainerTrace[] {
  const { template } = snapshot;
  const qos = qosClassOf(template.map(({ size }) => size));
  const traces = template
    .filter(({ kind }) => kind !== 'init')
    .map((container) => sizeContainer(container, qos, snapshot, sizing, nowMs));
  return keepClass(template, qos, traces);
}

function sizeContainer(
  container: TemplateContainer,
  qos: QosClass,
  snapshot: RightsizingSnapshot,
  sizing: Sizing,
  nowMs: number,
): ContainerTrace {
  const { name } = container;
  const template = ours(container.size);
  const stored = snapshot.remembered.get(name);
  const templateChanged = stored !== undefined && !sameAmounts(stored.template.requests, template.requests);
  const isNew = stored === undefined || templateChanged;
  const memory: ContainerMemory = {
    ...(stored ?? blank(name)),
    template,
    templateSinceMs: templateChanged ? nowMs : (stored?.templateSinceMs ?? null),
    target: isNew ? template : withKeysOf(template, stored.target),
  };
  const usage = snapshot.usage.get(name) ?? null;
  if (!isSized(sizing, name)) return off(memory, usage, templateChanged);
  const noted = withIncidents(memory, usage, snapshot, nowMs);
  const questions = { container: noted, usage, snapshot, sizing, nowMs };
  const sized = qos === 'Guaranteed' ? guaranteed(questions) : burstable(questions);
  return { name, usage, template, before: memory.target, templateChanged, ...sized };
}

const blank = (name: string): Omit<ContainerMemory, 'template' | 'target'> => ({
  name,
  templateSinceMs: null,
  changedAt: { increaseMs: null, decreaseMs: null },
  peaks: noPeaks,
  eviction: null,
  limits: noLimitMemory,
});

/** A key that the template lost is dropped, one that it gained begins there. */
const withKeysOf = (template: Size, target: Size): Size => ({
  requests: { ...template.requests, ...pickKeys(target.requests, template.requests) },
  limits: { ...template.limits, ...pickKeys(target.limits, template.limits) },
});
const pickKeys = (amounts: Resources, keys: Resources): Resources =>
  Object.fromEntries(Object.entries(amounts).filter(([resource]) => keys[resource] !== undefined));

function off(
  memory: ContainerMemory,
  usage: ContainerUsage | null,
  templateChanged: boolean,
): ContainerTrace {
  const { name, template, limits } = memory;
  const request = (resource: SizedResource): RequestTrace => ({
    recommendation: null,
    guards: [],
    before: template.requests[resource] ?? null,
    wanted: null,
    target: template.requests[resource] ?? null,
    reason: 'ContainerOff',
  });
  const limit = (resource: SizedResource): LimitTrace => ({
    limit: template.limits[resource] ?? null,
    reason: null,
    needed: null,
    memory: limits,
  });
  return {
    name,
    usage,
    requests: { cpu: request('cpu'), memory: request('memory') },
    limits: { cpu: limit('cpu'), memory: limit('memory') },
    template,
    before: template,
    target: template,
    templateChanged,
    memory: { ...memory, target: template },
  };
}

function withIncidents(
  memory: ContainerMemory,
  usage: ContainerUsage | null,
  { incidents }: RightsizingSnapshot,
  nowMs: number,
): ContainerMemory {
  const evicted = incidents.get(memory.name)?.evicted ?? null;
  const floors = [
    memory.eviction,
    evicted && { memory: evicted.memory, untilMs: evicted.atMs + EVICTION_COUNTS_MS },
  ];
  const standing = floors.filter((each) => each !== null).filter(({ untilMs }) => untilMs > nowMs);
  const highest = standing.toSorted((one, other) => other.memory - one.memory)[0] ?? null;
  const peaks = usage === null ? memory.peaks : withPeak(memory.peaks, usage.memoryNow ?? 0, nowMs);
  return { ...memory, eviction: highest, peaks };
}

interface Questions {
  readonly container: ContainerMemory;
  readonly usage: ContainerUsage | null;
  readonly snapshot: RightsizingSnapshot;
  readonly sizing: Sizing;
  readonly nowMs: number;
}

type Sized = Pick<ContainerTrace, 'requests' | 'limits' | 'target' | 'memory'>;

const autoscalerOf = (
  resource: SizedResource,
  { container, snapshot, sizing }: Questions,
): 'HPAOnCPU' | 'HPAOnMemory' | 'ManagedByVpa' | null => {
  if (sizing.hpa === 'Auto' && snapshot.scaledOn.has(resource))
    return resource === 'cpu' ? 'HPAOnCPU' : 'HPAOnMemory';
  return snapshot.managedByVpa.get(container.name)?.has(resource) === true ? 'ManagedByVpa' : null;
};

function requestOf(
  resource: SizedResource,
  limit: number | null,
  floor: number,
  questions: Questions,
): RequestTrace {
  const { container, usage, snapshot, sizing, nowMs } = questions;
  const { name, target, peaks, eviction, templateSinceMs } = container;
  return requestFor(
    {
      resource,
      before: target.requests[resource] ?? null,
      usage,
      recentPeak: peakOf(peaks, 2),
      evictionFloor: Math.max(eviction?.memory ?? 0, floor),
      autoscaler: autoscalerOf(resource, questions),
      limitRanges: snapshot.limitRanges,
      largestNode: snapshot.largestNode?.[resource] ?? null,
      limit,
      templateSinceMs,
      recent: snapshot.recent.get(name)?.[resource] ?? null,
    },
    sizing,
    nowMs,
  );
}

function limitQuestion(
  resource: SizedResource,
  request: number | null,
  { container, usage, snapshot, sizing, nowMs }: Questions,
): LimitQuestion {
  const { name, template, target, peaks, limits } = container;
  const isKnownLong = usage?.spanMs === null || (usage?.spanMs ?? 0) >= sizing.minHistoryMs;
  return {
    before: target.limits[resource] ?? null,
    template: template.limits[resource] ?? null,
    request,
    recentPeak: peakOf(peaks, 2),
    longPeak: Math.max(peakOf(peaks, 14), usage?.memoryPeak ?? 0),
    oomAtMs: snapshot.incidents.get(name)?.oomAtMs ?? null,
    largestNode: snapshot.largestNode?.[resource] ?? null,
    cpuThirdHighest: usage?.cpuThirdHighest ?? null,
    lent: snapshot.lent.has(name),
    mayLower: usage !== null && isKnownLong && (sizing.window === null || isOpen(sizing.window, nowMs)),
    remembered: limits,
  };
}

/** Raises come before the request, which must fit below; limits that follow come after it. */
function burstable(questions: Questions): Sized {
  const { container } = questions;
  const cpu = requestAndLimit('cpu', questions);
  const memory = requestAndLimit('memory', questions);
  return sizedBy(
    container,
    { cpu: cpu.request, memory: memory.request },
    { cpu: cpu.limit, memory: memory.limit },
    questions.nowMs,
  );
}

const limitsFor = { cpu: cpuLimitFor, memory: memoryLimitFor };

function requestAndLimit(
  resource: SizedResource,
  questions: Questions,
): { readonly request: RequestTrace; readonly limit: LimitTrace } {
  const { container, snapshot, sizing, nowMs } = questions;
  const limitFor = limitsFor[resource];
  const question = limitQuestion(resource, null, questions);
  const isLent = resource === 'cpu' && snapshot.lent.has(container.name);
  if (sizing.limits?.[resource] !== 'Follow' || isLent) {
    const limit = limitFor(question, sizing, nowMs);
    return { request: requestOf(resource, limit.limit, 0, questions), limit };
  }
  const cap = question.before === null ? null : capOf(resource, question, sizing);
  const request = requestOf(resource, cap, 0, questions);
  const limit = limitFor({ ...question, request: request.target }, sizing, nowMs);
  return { request, limit: above(request.target, limit) };
}

/** No limit that follows is below its request; one that was being lowered no longer is. */
function above(request: number | null, trace: LimitTrace): LimitTrace {
  if (request === null || trace.limit === null || request <= trace.limit) return trace;
  return { ...trace, limit: request, reason: 'LimitFollows', memory: { ...trace.memory, canary: null } };
}

/** Request and limit are one amount, for every container and both resources. */
function guaranteed(questions: Questions): Sized {
  const { container, sizing, nowMs } = questions;
  const rules = sizing.limits;
  const raising: Sizing =
    rules === null
      ? sizing
      : { ...sizing, limits: { ...rules, memory: rules.memory === 'Keep' ? 'Keep' : 'RaiseOnly' } };
  const question = limitQuestion('memory', null, questions);
  const raised = memoryLimitFor(question, raising, nowMs);
  const isRaised = raised.reason === 'OutOfMemory' || raised.reason === 'LimitRaised';
  const { oom } = raised.memory;
  const floor = Math.max(
    Math.ceil(question.longPeak * PEAK_ROOM),
    oom !== null && oom.untilMs > nowMs ? oom.limit : 0,
    isRaised ? (raised.limit ?? 0) : 0,
  );
  const request = (resource: SizedResource): RequestTrace => {
    const trace = requestOf(resource, null, resource === 'memory' ? floor : 0, questions);
    const isFixed = rules === null || rules[resource] === 'Keep';
    if (!isFixed || trace.target === trace.before) return trace;
    return { ...trace, target: trace.before, reason: 'QoSGuaranteed' };
  };
  // An OOM cannot wait for usage: the floor holds at once.
  const byUsage = request('memory');
  const urgent = isRaised && (byUsage.target ?? 0) < (raised.limit ?? 0) ? raised.limit : byUsage.target;
  const memory: RequestTrace = { ...byUsage, target: urgent };
  const requests = { cpu: request('cpu'), memory };
  const same = (resource: SizedResource, reason: AmountReason | null): LimitTrace => ({
    limit: requests[resource].target,
    reason,
    needed: resource === 'memory' ? raised.needed : null,
    memory: raised.memory,
  });
  return sizedBy(
    container,
    requests,
    { cpu: same('cpu', null), memory: same('memory', raised.reason) },
    nowMs,
  );
}

function sizedBy(
  container: ContainerMemory,
  requests: ContainerTrace['requests'],
  limits: ContainerTrace['limits'],
  nowMs: number,
): Sized {
  const target = sizeOf(requests, limits);
  const { changedAt, target: before } = container;
  const changes = sizedResources.map(
    (resource) => (target.requests[resource] ?? 0) - (before.requests[resource] ?? 0),
  );
  const memory: ContainerMemory = {
    ...container,
    target,
    changedAt: {
      increaseMs: changes.some((change) => change > 0) ? nowMs : changedAt.increaseMs,
      decreaseMs: changes.some((change) => change < 0) ? nowMs : changedAt.decreaseMs,
    },
    limits: { ...limits.memory.memory, cpuRaisedAtMs: limits.cpu.memory.cpuRaisedAtMs },
  };
  return { requests, limits, target, memory };
}

function sizeOf(requests: ContainerTrace['requests'], limits: ContainerTrace['limits']): Size {
  const amounts = (of: (resource: SizedResource) => number | null): Resources =>
    Object.fromEntries(
      sizedResources.flatMap((resource) => {
        const amount = of(resource);
        return amount === null ? [] : [[resource, amount]];
      }),
    );
  return {
    requests: amounts((resource) => requests[resource].target),
    limits: amounts((resource) => limits[resource].limit),
  };
}

/**
 * Requests that reach their limits in every container would make a Burstable pod Guaranteed, which no resize can. One
 * unit less of a request that changes keeps it what it is.
 */
function keepClass(
  template: readonly TemplateContainer[],
  qos: QosClass,
  traces: readonly ContainerTrace[],
): readonly ContainerTrace[] {
  const targets = new Map(traces.map(({ name, target }) => [name, target]));
  const after = template.map(({ name, size }) => {
    const target = targets.get(name);
    return {
      requests: { ...size.requests, ...target?.requests },
      limits: { ...size.limits, ...target?.limits },
    };
  });
  if (qosClassOf(after) === qos) return traces;
  const index = traces.findIndex((each) => changedResource(each) !== null);
  const trace = traces[index];
  const resource = trace && changedResource(trace);
  if (trace === undefined || resource === null || resource === undefined) return traces;
  const request = (trace.target.requests[resource] ?? 1) - 1;
  const target: Size = { ...trace.target, requests: { ...trace.target.requests, [resource]: request } };
  const requests = { ...trace.requests, [resource]: { ...trace.requests[resource], target: request } };
  return traces.with(index, { ...trace, requests, target, memory: { ...trace.memory, target } });
}

const changedResource = ({ before, target }: ContainerTrace): SizedResource | null =>
  sizedResources.find((resource) => before.requests[resource] !== target.requests[resource]) ?? null;
