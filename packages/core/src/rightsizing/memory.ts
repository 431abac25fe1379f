import { parseQuantity } from '@spotalis/units';
import type { Size } from '../cluster/size.ts';
import { noPeaks, type DailyPeaks } from './evidence/daily.ts';
import { type LimitMemory, noLimitMemory } from './limit.ts';
import type { RecommendationStatus } from './workload-recommendation.ts';

type StoredContainer = NonNullable<RecommendationStatus['containers']>[number];
type StoredSize = NonNullable<StoredContainer['target']>;

/** What outlives the process: it is stored in the status of the WorkloadRecommendation. */
export interface ContainerMemory {
  readonly name: string;
  /** The template that the target was computed from. */
  readonly template: Size;
  readonly templateSinceMs: number | null;
  readonly target: Size;
  readonly changedAt: { readonly increaseMs: number | null; readonly decreaseMs: number | null };
  readonly peaks: DailyPeaks;
  readonly eviction: { readonly memory: number; readonly untilMs: number } | null;
  readonly limits: LimitMemory;
}

const units = (quantity: string | number | undefined, factor: number): number | undefined => {
  const parsed = quantity === undefined ? null : parseQuantity(String(quantity));
  return parsed === null ? undefined : Math.ceil(Number((parsed * factor).toFixed(9)));
};
const cpuOf = (quantity: string | number | undefined) => units(quantity, 1000);
const bytesOf = (quantity: string | number | undefined) => units(quantity, 1);

const present = (amounts: { readonly cpu: number | undefined; readonly memory: number | undefined }) => ({
  ...(amounts.cpu !== undefined && { cpu: amounts.cpu }),
  ...(amounts.memory !== undefined && { memory: amounts.memory }),
});

const sizeFrom = (stored: StoredSize | undefined): Size => ({
  requests: present({ cpu: cpuOf(stored?.cpu), memory: bytesOf(stored?.memory) }),
  limits: present({ cpu: cpuOf(stored?.cpuLimit), memory: bytesOf(stored?.memoryLimit) }),
});

const msOf = (time: string | undefined): number | null => (time === undefined ? null : Date.parse(time));

export function readMemory(status: Partial<RecommendationStatus>): ReadonlyMap<string, ContainerMemory> {
  return new Map((status.containers ?? []).map((stored) => [stored.name, containerFrom(stored)]));
}

function containerFrom(stored: StoredContainer): ContainerMemory {
  const { name, changedAt, floors, canary } = stored;
  const eviction = bytesOf(floors?.eviction?.memory);
  const dayMs = msOf(floors?.dailyPeaksDay);
  return {
    name,
    template: sizeFrom(stored.template),
    templateSinceMs: msOf(stored.templateSince),
    target: sizeFrom(stored.target),
    changedAt: { increaseMs: msOf(changedAt?.increase), decreaseMs: msOf(changedAt?.decrease) },
    peaks: dayMs === null ? noPeaks : { dayMs, peaks: floors?.dailyPeaks ?? [] },
    eviction:
      eviction === undefined ? null : { memory: eviction, untilMs: msOf(floors?.eviction?.until) ?? 0 },
    limits: {
      oom: oomFrom(floors?.oom),
      canary: canaryFrom(canary),
      reverts: canary?.reverts ?? 0,
      heldUntilMs: msOf(canary?.heldUntil) ?? noLimitMemory.heldUntilMs,
      cpuRaisedAtMs: msOf(stored.limitRaised?.at),
    },
  };
}

function oomFrom(stored: NonNullable<StoredContainer['floors']>['oom']): LimitMemory['oom'] {
  const [limit, atMs, untilMs] = [bytesOf(stored?.limit), msOf(stored?.at), msOf(stored?.until)];
  if (limit === undefined || atMs === null || untilMs === null) return null;
  return { limit, atMs, untilMs, count: stored?.count ?? 1 };
}

function canaryFrom(stored: StoredContainer['canary']): LimitMemory['canary'] {
  const [limit, before, sinceMs] = [bytesOf(stored?.limit), bytesOf(stored?.before), msOf(stored?.since)];
  return limit === undefined || before === undefined || sinceMs === null ? null : { limit, before, sinceMs };
}

/** Kubernetes has times in whole seconds. */
export const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

const isTime = (ms: number | null): ms is number => ms !== null && ms > 0;

/** Exactly, so that what is read back is the same. */
const cpuText = (millicores: number) => `${millicores}m` as const;
const bytesText = (bytes: number) => `${bytes}` as const;

function writeSize({ requests, limits }: Size): StoredSize {
  const { cpu, memory } = requests;
  const { cpu: cpuLimit, memory: memoryLimit } = limits;
  return {
    ...(cpu !== undefined && { cpu: cpuText(cpu) }),
    ...(memory !== undefined && { memory: bytesText(memory) }),
    ...(cpuLimit !== undefined && { cpuLimit: cpuText(cpuLimit) }),
    ...(memoryLimit !== undefined && { memoryLimit: bytesText(memoryLimit) }),
  };
}

export function writeMemory(memory: ContainerMemory): StoredContainer {
  const { name, template, templateSinceMs, target, changedAt, peaks, eviction, limits } = memory;
  const { oom, canary, reverts, heldUntilMs, cpuRaisedAtMs } = limits;
  const { increaseMs, decreaseMs } = changedAt;
  const isCanaryKnown = canary !== null || reverts > 0;
  return {
    name,
    template: writeSize(template),
    ...(isTime(templateSinceMs) && { templateSince: timeText(templateSinceMs) }),
    target: writeSize(target),
    changedAt: {
      ...(isTime(increaseMs) && { increase: timeText(increaseMs) }),
      ...(isTime(decreaseMs) && { decrease: timeText(decreaseMs) }),
    },
    floors: {
      ...(peaks.dayMs > 0 && { dailyPeaks: peaks.peaks, dailyPeaksDay: timeText(peaks.dayMs) }),
      ...(eviction && {
        eviction: { memory: bytesText(eviction.memory), until: timeText(eviction.untilMs) },
      }),
      ...(oom && {
        oom: {
          limit: bytesText(oom.limit),
          at: timeText(oom.atMs),
          until: timeText(oom.untilMs),
          count: oom.count,
        },
      }),
    },
    ...(isCanaryKnown && {
      canary: {
        ...(canary && {
          limit: bytesText(canary.limit),
          before: bytesText(canary.before),
          since: timeText(canary.sinceMs),
        }),
        reverts,
        ...(isTime(heldUntilMs) && { heldUntil: timeText(heldUntilMs) }),
      },
    }),
    ...(cpuRaisedAtMs !== null && { limitRaised: { at: timeText(cpuRaisedAtMs) } }),
  };
}
