import type { Resources } from '../cluster/resources.ts';
import type { Size } from '../cluster/size.ts';
import type { Intent } from '../disruption/intent.ts';
import { type ContainerTrace, sizeContainers } from './container.ts';
import type { ContainerUsage, Percentiles } from './evidence/usage.ts';
import { isGrowthSuspected } from './limit.ts';
import { timeText, writeMemory } from './memory.ts';
import type { workloadStates } from './optimization-policy.ts';
import { decidePods, type PodDecisions, type PodTrace } from './pod.ts';
import { type RightsizingReason, rightsizingReasons } from './reason.ts';
import type { RightsizingSnapshot } from './snapshot.ts';
import type { RecommendationStatus } from './workload-recommendation.ts';

export type WorkloadState = (typeof workloadStates)[number];

/** What is decided about one workload, and why. */
export interface RightsizingTrace {
  readonly state: WorkloadState;
  readonly reason: RightsizingReason;
  /** Whether changes may be written to the workload and its pods. */
  readonly applies: boolean;
  readonly containers: readonly ContainerTrace[];
  readonly pods: readonly PodTrace[];
}

export interface RightsizingDecision {
  readonly trace: RightsizingTrace;
  /** Null: the status stays as it is. */
  readonly status: RecommendationStatus | null;
  readonly intents: readonly Intent[];
  /** With applyTo Template, the sizes that the template should have; null: it stays. */
  readonly template: ReadonlyMap<string, Size> | null;
  /** Three raises within the time of a floor: a leak, or a need nobody foresaw. */
  readonly growthSuspected: boolean;
}

const nothing = (reason: RightsizingReason, state: WorkloadState): RightsizingDecision => ({
  trace: { state, reason, applies: false, containers: [], pods: [] },
  status: null,
  intents: [],
  template: null,
  growthSuspected: false,
});

/** Why nothing may be written to the workload, in the order in which it is reported; null: it may. */
function closedGate({
  readOnly,
  dryRun,
  workload,
  forbidden,
  policy,
}: RightsizingSnapshot): RightsizingReason | null {
  if (readOnly) return 'ReadOnly';
  if (dryRun) return 'DryRun';
  if (policy.kind === 'acting' && policy.sizing.mode === 'Recommend') return 'RecommendOnly';
  if (workload.paused) return 'Paused';
  return forbidden ? 'Forbidden' : null;
}

/** What to do about one workload now, and why. Total: every snapshot has an answer, and the same one every time. */
export function decideSizes(snapshot: RightsizingSnapshot, nowMs: number): RightsizingDecision {
  const { workload, policy, readOnly } = snapshot;
  if (workload.deleting) return nothing('WorkloadDeleted', 'Skipped');
  if (policy.kind === 'none') return nothing(policy.reason, 'Skipped');
  const { sizing } = policy;
  if (sizing.mode === 'Disabled') return nothing('Disabled', 'Skipped');
  const containers = sizeContainers(snapshot, sizing, nowMs);
  const gate = closedGate(snapshot);
  const pods = decidePods(snapshot, sizing, containers, gate === null, nowMs);
  const { state, reason } = standing(containers, pods, gate);
  const trace = { state, reason, applies: gate === null, containers, pods: pods.traces };
  const isRollout = gate === null && sizing.applyTo === 'Template' && sizing.recreate;
  return {
    trace,
    status: readOnly ? null : statusOf(trace, pods, snapshot, nowMs),
    intents: pods.intents,
    template: isRollout ? templateOf(containers) : null,
    growthSuspected: containers.some(({ memory }) => isGrowthSuspected(memory.limits, nowMs)),
  };
}

function templateOf(containers: readonly ContainerTrace[]): ReadonlyMap<string, Size> | null {
  const isChanged = containers.some(({ template, target }) => !isSame(template, target));
  return isChanged ? new Map(containers.map(({ name, target }) => [name, target])) : null;
}

const isSame = (one: Size, other: Size): boolean =>
  sameAmounts(one.requests, other.requests) && sameAmounts(one.limits, other.limits);
const sameAmounts = (one: Resources, other: Resources): boolean =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) => one[key] === other[key]);

const waitsForUsage: ReadonlySet<RightsizingReason> = new Set(['MissingMetrics', 'InsufficientData']);

/** The reasons of all amounts, requests first, without those of containers that are off if others are not. */
function amountReasons(containers: readonly ContainerTrace[]): readonly RightsizingReason[] {
  const reasons = containers.flatMap(({ requests, limits }) => [
    requests.cpu.reason,
    requests.memory.reason,
    ...[limits.memory.reason, limits.cpu.reason].filter((each) => each !== null),
  ]);
  const active = reasons.filter((reason) => reason !== 'ContainerOff');
  return active.length > 0 ? active : reasons;
}

function standing(
  containers: readonly ContainerTrace[],
  { traces, intents }: PodDecisions,
  gate: RightsizingReason | null,
): { readonly state: WorkloadState; readonly reason: RightsizingReason } {
  if (gate === 'Forbidden') return { state: 'Error', reason: gate };
  if (gate !== null) return { state: gate === 'Paused' ? 'Skipped' : 'Recommended', reason: gate };
  const reasons = amountReasons(containers);
  const urgent = reasons.find((reason) => rightsizingReasons[reason].alerts === 'Warning');
  const waiting = reasons.find((reason) => waitsForUsage.has(reason));
  if (intents.length > 0) return { state: 'Applying', reason: urgent ?? intentReason(traces) };
  if (waiting !== undefined) return { state: 'Pending', reason: waiting };
  const held = traces.find(({ reason }) => reason !== 'AtTarget');
  if (held !== undefined) return { state: 'Skipped', reason: held.reason };
  const guard = reasons.find((reason) => rightsizingReasons[reason].calm !== true);
  return { state: 'Applied', reason: urgent ?? guard ?? reasons[0] ?? 'AtTarget' };
}

const intentReason = (traces: readonly PodTrace[]): RightsizingReason =>
  traces.find(({ reason }) => reason === 'Resizing' || reason === 'Recreating')?.reason ?? 'Resizing';

const cpuText = (millicores: number) => `${Math.round(millicores)}m` as const;
const bytesText = (bytes: number) => `${Math.round(bytes)}` as const;
/** For people: rounded up. */
const roundText = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)}Mi` as const;

const cpuPercentiles = ({ P50, P90, P99 }: Percentiles) => ({
  p50: cpuText(P50),
  p90: cpuText(P90),
  p99: cpuText(P99),
});

const memoryPercentiles = ({ P50, P90, P99 }: Percentiles) => ({
  p50: bytesText(P50),
  p90: bytesText(P90),
  p99: bytesText(P99),
});

function usageStatus(usage: ContainerUsage | null) {
  if (usage === null) return {};
  const { samples, spanMs, atMs, cpu, memory, memoryPeak } = usage;
  return {
    samples,
    ...(spanMs !== null && { historySince: timeText(atMs - spanMs) }),
    cpu: cpuPercentiles(cpu),
    memory: { ...memoryPercentiles(memory), ...(memoryPeak !== null && { peak: bytesText(memoryPeak) }) },
  };
}

function containerStatus(trace: ContainerTrace): NonNullable<RecommendationStatus['containers']>[number] {
  const { cpu, memory } = trace.requests;
  const reason =
    [cpu.reason, memory.reason].find((each) => rightsizingReasons[each].calm !== true) ?? cpu.reason;
  return {
    ...writeMemory(trace.memory),
    ...usageStatus(trace.usage),
    recommendation: {
      ...(cpu.recommendation && { cpu: cpuText(cpu.recommendation.amount) }),
      ...(memory.recommendation && { memory: bytesText(memory.recommendation.amount) }),
    },
    reason,
  };
}

function totalOf(containers: readonly ContainerTrace[]): Resources {
  const total = { cpu: 0, memory: 0 };
  for (const { target } of containers) {
    total.cpu += target.requests['cpu'] ?? 0;
    total.memory += target.requests['memory'] ?? 0;
  }
  return total;
}

const requestsText = ({ cpu = 0, memory = 0 }: Resources) => ({
  cpu: cpuText(cpu),
  memory: roundText(memory),
});

function ownSizes(own: readonly Resources[]) {
  if (own.length === 0) return {};
  const sorted = (resource: string) =>
    own.map((each) => each[resource] ?? 0).toSorted((one, other) => one - other);
  const [cpu, memory] = [sorted('cpu'), sorted('memory')];
  const at = (index: number) => requestsText({ cpu: cpu[index] ?? 0, memory: memory[index] ?? 0 });
  return { ownSize: { min: at(0), median: at(Math.floor((own.length - 1) / 2)), max: at(own.length - 1) } };
}

function statusOf(
  { state, reason, applies, containers, pods }: RightsizingTrace,
  { own }: PodDecisions,
  { workload, dryRun, lastAppliedMs }: RightsizingSnapshot,
  nowMs: number,
): RecommendationStatus {
  const { means, remedy } = rightsizingReasons[reason];
  const evidenceAt = Math.min(...containers.map(({ usage }) => usage?.atMs ?? Number.POSITIVE_INFINITY));
  const atTarget = pods.filter((pod) => pod.reason === 'AtTarget').length;
  return {
    observedGeneration: workload.generation,
    state,
    reason,
    message: `${means}${remedy === null ? '' : `: ${remedy}`}`.slice(0, 1024),
    lastRecommendation: timeText(nowMs),
    ...(lastAppliedMs !== null && { lastApplied: timeText(lastAppliedMs) }),
    ...(Number.isFinite(evidenceAt) && { evidenceAt: timeText(evidenceAt) }),
    apply: applies,
    dryRun,
    total: requestsText(totalOf(containers)),
    pods: { total: pods.length, atTarget, waiting: pods.length - atTarget, ...ownSizes(own) },
    containers: containers.map(containerStatus),
  };
}
