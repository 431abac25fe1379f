import { parseDuration } from '@spotalis/units';
import type { CapacityType } from '../../capacity/type.ts';
import { ordinalType } from '../../policy/slot.ts';
import type { PolicyNumbers } from '../../policy/target.ts';
import { foreignKeys, podKeys } from '../../policy/keys.ts';
import type { Member, WorkloadPod } from '../../cluster/workload-pod.ts';
import type { ExclusionReason } from './verdict.ts';
import type { WorkloadView } from '../../cluster/workload.ts';

/** Why a pod must stay, and until when if a time is known. */
export interface Protection {
  readonly reason: ExclusionReason;
  readonly untilMs: number | null;
}

export interface ProtectionContext {
  readonly workload: WorkloadView;
  readonly numbers: PolicyNumbers;
  /** The surplus type. */
  readonly from: CapacityType;
  readonly minPodAgeMs: number;
  readonly nowMs: number;
}

/** system-cluster-critical is 2,000,000,000 and system-node-critical above it; users' classes end below. */
const SYSTEM_CRITICAL = 2_000_000_000;

/** Whether a pod of the surplus type may never be moved, or not yet. Null: it may. */
export function protectionOf(member: Member, context: ProtectionContext): Protection | null {
  const { pod } = member;
  const { annotations } = pod;
  if (annotations[podKeys.doNotMove] === 'true') return lasting('DoNotMove');
  if (annotations[foreignKeys.safeToEvict] === 'false') return lasting('NotSafeToEvict');
  if (annotations[foreignKeys.mirror] !== undefined) return lasting('MirrorPod');
  if (pod.priority >= SYSTEM_CRITICAL) return lasting('SystemCritical');
  if (member.onUnknownNode) return lasting('UnknownNode');
  if (pod.volumes.kind === 'unknown') return lasting('VolumeUnknown');
  if (comesBackTheSame(member, context)) return lasting('SlotKeepsType');
  return doNotDisrupt(pod, context.nowMs) ?? tooYoung(pod, context);
}

const lasting = (reason: ExclusionReason): Protection => ({ reason, untilMs: null });

/** A StatefulSet's pod comes back with its ordinal, and the ordinal decides the type. */
function comesBackTheSame({ ordinal }: Member, { workload, numbers, from }: ProtectionContext): boolean {
  if (workload.kind !== 'StatefulSet') return false;
  return ordinal === null || ordinalType(numbers, ordinal, workload.firstOrdinal) === from;
}

function doNotDisrupt({ annotations, startedAtMs }: WorkloadPod, nowMs: number): Protection | null {
  const text = annotations[foreignKeys.karpenterDoNotDisrupt];
  if (text === undefined) return null;
  if (text === 'true') return lasting('DoNotDisrupt');
  const durationMs = parseDuration(text);
  if (durationMs === null || durationMs <= 0) return null;
  if (startedAtMs === null) return lasting('DoNotDisrupt');
  const untilMs = startedAtMs + durationMs;
  return untilMs > nowMs ? { reason: 'DoNotDisrupt', untilMs } : null;
}

function tooYoung({ ready, createdAtMs }: WorkloadPod, context: ProtectionContext): Protection | null {
  const untilMs = createdAtMs + context.minPodAgeMs;
  return !ready || untilMs <= context.nowMs ? null : { reason: 'TooYoung', untilMs };
}
