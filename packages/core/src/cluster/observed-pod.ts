import { overrideOf } from '../capacity/admit.ts';
import { readPodMark } from '../capacity/mark.ts';
import type { Placement } from '../capacity/placement.ts';
import type { PodSpecView } from './pod-spec.ts';
import type { CapacityType } from '../capacity/type.ts';
import { type Holdup, holdupOf, unschedulableSince, type UnscheduledView } from './unschedulable.ts';
import { type Annotations, foreignKeys, type Labels } from '../policy/keys.ts';
import { type PlaceholderMark, placeholderPriority, readPlaceholderMark } from './placeholder-mark.ts';
import type { WorkloadPod } from './workload-pod.ts';
import { podRequests, type RequestingSpec, type Resources } from './resources.ts';
import {
  type Identified,
  identityOf,
  ownAnnotations,
  type RawIdentified,
  type RawMetadata,
} from './metadata.ts';
import { type Controller, controllerOf } from './owner.ts';

/** The part of a Pod that the API server sends and that decisions depend on. */
export interface RawPod extends RawIdentified, UnscheduledView {
  readonly spec?: RequestingSpec &
    PodSpecView &
    UnscheduledView['spec'] & {
      readonly priority?: number;
      readonly preemptionPolicy?: string;
      readonly volumes?: readonly {
        readonly name: string;
        readonly persistentVolumeClaim?: { readonly claimName: string };
        /** A generic ephemeral volume: its claim is named after the pod. */
        readonly ephemeral?: object;
      }[];
    };
  readonly status?: UnscheduledView['status'] & {
    readonly phase?: string;
    readonly startTime?: string;
  };
}

/** What is kept of a pod. */
export interface ObservedPod extends Identified, Admission {
  /**
   * Membership: a pod belongs by the UID of its controller, never by a selector. Pods of other controllers, or of
   * none, only take room on their nodes.
   */
  readonly controller: Controller | undefined;
  /** Terminating, succeeded or failed: it counts no more. */
  readonly ended: boolean;
  readonly terminating: boolean;
  /** `metadata.deletionTimestamp`, when its grace period is over. */
  readonly deletionMs: number | null;
  readonly phase: WorkloadPod['phase'];
  readonly ready: boolean;
  /** Whose type is the pod's, once it has one. */
  readonly nodeName: string | undefined;
  readonly labels: Labels;
  readonly annotations: Annotations;
  readonly unschedulableSinceMs: number | null;
  readonly holdup: Holdup | null;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly priority: number;
  /** Whether it would take the place of a placeholder. */
  readonly preemptsPlaceholders: boolean;
  /** It is one of ours, and no workload's. */
  readonly placeholder: PlaceholderMark | null;
  readonly requests: Resources;
  /** What somebody changed of where admission sent it, as `overrideOf` has it. */
  readonly override: string | null;
  /** The names of its PersistentVolumeClaims. */
  readonly claims: readonly string[];
}

export interface Admission {
  /** The admission's token. Pods from before adoption, or past an unreachable webhook, have none. */
  readonly reservation: string | undefined;
  readonly admitted: Admitted | undefined;
}

/** What admission gave the pod. */
interface Admitted {
  readonly type: CapacityType;
  readonly rank: number | undefined;
  readonly substitute: boolean;
}

/**
 * Pods of other kinds of owners (DaemonSets, Jobs, none) are kept while they take room on a node, without what only
 * matters on pods that could be ours, and are dropped as if they did not exist before and after. Without a placement
 * nobody asks whether it was changed after admission.
 */
export function prunePod(raw: RawPod, placement?: Placement): ObservedPod | undefined {
  const { metadata, spec = {}, status = {} } = raw;
  const controller = controllerOf(metadata);
  const isOurKind = controller?.kind === 'ReplicaSet' || controller?.kind === 'StatefulSet';
  const nodeName = spec.nodeName || undefined;
  const phase = phaseOf(status.phase);
  const placeholder = isOurKind
    ? null
    : readPlaceholderMark(metadata.labels ?? {}, metadata.annotations ?? {});
  const isOurs = isOurKind || placeholder !== null;
  if (!isOurs && (nodeName === undefined || isTerminal(phase))) return undefined;
  const { reservation, admitted } = admissionOf(metadata);
  const terminating = metadata.deletionTimestamp !== undefined;
  return {
    metadata: identityOf(metadata),
    controller: isOurKind ? controller : undefined,
    ended: terminating || isTerminal(phase),
    terminating,
    deletionMs: timeOf(metadata.deletionTimestamp),
    phase,
    ready: status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false,
    nodeName,
    labels: isOurKind ? (metadata.labels ?? {}) : {},
    annotations: isOurKind ? heededAnnotations(metadata) : {},
    unschedulableSinceMs: isOurKind ? unschedulableSince(raw) : null,
    holdup: isOurKind ? holdupOf(raw) : null,
    createdAtMs: timeOf(metadata.creationTimestamp) ?? 0,
    startedAtMs: timeOf(status.startTime),
    priority: spec.priority ?? 0,
    preemptsPlaceholders: spec.preemptionPolicy !== 'Never' && (spec.priority ?? 0) > placeholderPriority,
    placeholder,
    requests: podRequests(spec),
    override: admitted && placement ? overrideOf(spec, admitted.type, placement) : null,
    claims: isOurKind ? claimsOf(raw) : none,
    // Named, not spread: V8 keeps what is spread at the end in a second object.
    reservation,
    admitted,
  };
}

const none: readonly string[] = [];

/** What admission wrote on a pod, from its metadata alone: a LIST of metadata reads it as well. */
export function admissionOf(metadata: RawMetadata): Admission {
  const { token, type, rank, substitute } = readPodMark(metadata.annotations ?? {});
  // A type without a token was not written by us, but on a StatefulSet's pod, which needs none.
  const isOurs = token !== null || (type !== null && controllerOf(metadata)?.kind === 'StatefulSet');
  return {
    reservation: token ?? undefined,
    admitted: isOurs && type !== null ? { type, rank: rank ?? undefined, substitute } : undefined,
  };
}

/** By this name the ledger knows the pod. */
export const tokenOf = (pod: Admission & Identified): string => pod.reservation ?? pod.metadata.uid;

const isTerminal = (phase: WorkloadPod['phase']): boolean => phase === 'Succeeded' || phase === 'Failed';

const heeded: readonly string[] = [
  foreignKeys.podDeletionCost,
  foreignKeys.karpenterDoNotDisrupt,
  foreignKeys.safeToEvict,
  foreignKeys.mirror,
];

/** Those under our prefix, and those of others that are heeded. */
function heededAnnotations(metadata: RawMetadata): Annotations {
  const kept: Record<string, string> = { ...ownAnnotations(metadata) };
  for (const key of heeded) {
    const value = metadata.annotations?.[key];
    if (value !== undefined) kept[key] = value;
  }
  return kept;
}

function claimsOf({ metadata, spec }: RawPod): readonly string[] {
  const claims = (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) =>
    persistentVolumeClaim === undefined
      ? ephemeral === undefined
        ? []
        : [`${metadata.name}-${name}`]
      : [persistentVolumeClaim.claimName],
  );
  return claims.length === 0 ? none : claims;
}

const phases: readonly WorkloadPod['phase'][] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

const phaseOf = (text: string | undefined): WorkloadPod['phase'] =>
  phases.find((phase) => phase === text) ?? 'Pending';

function timeOf(text: string | undefined): number | null {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? null : ms;
}
