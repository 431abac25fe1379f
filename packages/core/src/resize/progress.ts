import type { Resources } from '../cluster/resources.ts';
import { type Size, sizeFields, type Sizes } from '../cluster/size.ts';
import { changesOf, hasAmounts } from './change.ts';
import type { ResizeHold } from './hold.ts';
import type { ResizablePod } from './resizable-pod.ts';

/** How far the kubelet is with what was sent. */
export type ResizeProgress =
  | { readonly kind: 'done' }
  /** It has not looked at this generation yet, or is at it. */
  | { readonly kind: 'underWay' }
  /** It tries in vain: a memory limit below what is in use, for example. */
  | { readonly kind: 'failing'; readonly message: string }
  /** It waits for room. */
  | { readonly kind: 'deferred'; readonly message: string }
  | { readonly kind: 'infeasible'; readonly message: string }
  /** The spec is not what was sent: somebody else resized the pod. */
  | { readonly kind: 'overwritten' }
  | { readonly kind: 'ended' };

/** By what the pod itself says, never by its spec alone: that is only what was asked for. */
export function progressOf(pod: ResizablePod, sent: Sizes): ResizeProgress {
  if (pod.terminating || pod.phase !== 'Running') return { kind: 'ended' };
  if (changesOf(pod, sent).length > 0) return { kind: 'overwritten' };
  const { generation, observedGeneration, pending, inProgress } = pod;
  if (generation !== null && observedGeneration !== null && observedGeneration < generation)
    return { kind: 'underWay' };
  if (pending !== null) {
    const { message } = pending;
    return pending.reason === 'Infeasible' ? { kind: 'infeasible', message } : { kind: 'deferred', message };
  }
  if (inProgress !== null) {
    return inProgress.reason === 'Error'
      ? { kind: 'failing', message: inProgress.message }
      : { kind: 'underWay' };
  }
  return isApplied(pod, sent) ? { kind: 'done' } : { kind: 'underWay' };
}

function isApplied(pod: ResizablePod, sent: Sizes): boolean {
  return pod.containers.every(({ name, allocated, actual }) => {
    const wanted = sent.get(name);
    if (wanted === undefined) return true;
    return (
      actual !== null &&
      sizeFields.every((field) => hasAmounts(field, actual[field], wanted[field])) &&
      (allocated === null || hasAmounts('requests', allocated, wanted.requests))
    );
  });
}

/** A Deferred increase keeps its room from all other pods of the node. */
const DEFERRED_MS = 60_000;
/** The kubelet tries again by itself, and memory may be freed. */
const FAILING_MS = 120_000;
/** A kubelet that is away, or a runtime that does not answer. */
const UNDER_WAY_MS = 300_000;

export type ResizeVerdict =
  | { readonly kind: 'done' }
  | { readonly kind: 'wait'; readonly untilMs: number }
  | { readonly kind: 'takeBack'; readonly hold: ResizeHold }
  | { readonly kind: 'left'; readonly hold: ResizeHold };

/** What to do about a resize that has been like this since then. */
export function verdictOf(progress: ResizeProgress, sinceMs: number, nowMs: number): ResizeVerdict {
  switch (progress.kind) {
    case 'done':
      return { kind: 'done' };
    case 'ended':
      return { kind: 'left', hold: { reason: 'PodLeaving' } };
    case 'overwritten':
      return { kind: 'left', hold: { reason: 'Overwritten' } };
    case 'infeasible':
      return { kind: 'takeBack', hold: { reason: 'Infeasible', message: progress.message } };
    case 'deferred':
      return waitOr(sinceMs + DEFERRED_MS, nowMs, { reason: 'Deferred', message: progress.message });
    case 'failing':
      return waitOr(sinceMs + FAILING_MS, nowMs, { reason: 'NotApplied', message: progress.message });
    case 'underWay':
      return waitOr(sinceMs + UNDER_WAY_MS, nowMs, {
        reason: 'NotApplied',
        message: 'the kubelet has not carried it out within 5 minutes',
      });
    default:
      return progress satisfies never;
  }
}

const waitOr = (untilMs: number, nowMs: number, hold: ResizeHold): ResizeVerdict =>
  nowMs < untilMs ? { kind: 'wait', untilMs } : { kind: 'takeBack', hold };

/**
 * What the kubelet last agreed to, of the amounts that were sent: requests as allocated, limits as enforced. Amounts
 * that it does not report stay as they are. A kubelet that is at it may have allocated what it does not enforce yet, so
 * requests follow the limits where the API server asks for it.
 */
export function agreedSizes({ qos, containers }: ResizablePod, sent: Sizes): Sizes {
  const agreed = new Map<string, Size>();
  for (const { name, spec, allocated, actual } of containers) {
    const wanted = sent.get(name);
    if (wanted === undefined) continue;
    const limits = pick(wanted.limits, actual?.limits ?? {});
    const requests = Object.entries(pick(wanted.requests, allocated ?? actual?.requests ?? {})).map(
      ([resource, request]) => {
        const limit = { ...spec.limits, ...limits }[resource] ?? request;
        return [resource, qos === 'Guaranteed' ? limit : Math.min(request, limit)] as const;
      },
    );
    agreed.set(name, { requests: Object.fromEntries(requests), limits });
  }
  return agreed;
}

const pick = (names: Resources, from: Resources): Resources =>
  Object.fromEntries(Object.entries(from).filter(([resource]) => resource in names));

/**
 * What a resize asks for that somebody left behind: the whole spec, of which the kubelet has not applied some. Null where
 * nothing is pending.
 */
export function pendingSizes(pod: ResizablePod): Sizes | null {
  if (pod.pending === null && pod.inProgress === null) return null;
  const running = pod.containers.filter(({ kind }) => kind === 'container' || kind === 'sidecar');
  return new Map(running.map(({ name, spec }) => [name, spec]));
}
