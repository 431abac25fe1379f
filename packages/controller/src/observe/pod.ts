import { type CapacityType, readPodMark } from '@spotalis/core';
import type { KubeObject, RawMeta, RawObject } from '@spotalis/kube';
import { identityOf } from './metadata.ts';
import { type Controller, controllerOf } from './owner.ts';

/** The part of a Pod that the API server sends and that this service looks at. */
export interface RawPod extends RawObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

/** What is kept of a pod. */
export interface ObservedPod extends KubeObject, Admission {
  /** Membership: a pod belongs by the UID of its controller, never by a selector. */
  readonly controller: Controller;
  /** Terminating, succeeded or failed: it counts no more. */
  readonly ended: boolean;
  /** Whose type is the pod's, once it has one. */
  readonly nodeName: string | undefined;
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

/** Pods of other kinds of owners (DaemonSets, Jobs, none) are dropped as if they did not exist. */
export function prunePod(raw: RawPod): ObservedPod | undefined {
  const { metadata, spec, status } = raw;
  const controller = controllerOf(metadata);
  if (controller?.kind !== 'ReplicaSet' && controller?.kind !== 'StatefulSet') return undefined;
  return {
    metadata: identityOf(metadata),
    controller,
    ended: metadata.deletionTimestamp !== undefined || isTerminal(status?.phase),
    nodeName: spec?.nodeName || undefined,
    ...admissionOf(metadata),
  };
}

/** What admission wrote on a pod, from its metadata alone: a LIST of metadata reads it as well. */
export function admissionOf(metadata: RawMeta): Admission {
  const { token, type, rank, substitute } = readPodMark(metadata.annotations ?? {});
  return {
    reservation: token ?? undefined,
    // A type without a token was not written by us.
    admitted: token === null || type === null ? undefined : { type, rank: rank ?? undefined, substitute },
  };
}

/** By this name the ledger knows the pod. */
export const tokenOf = (pod: Admission & KubeObject): string => pod.reservation ?? pod.metadata.uid;

const isTerminal = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';
