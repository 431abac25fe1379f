import {
  admitPod,
  allowedTypes,
  type CapacityType,
  foreignKeys,
  gate,
  type GateVerdict,
  type Placement,
  type PolicyNumbers,
  poolOf,
  readPodMark,
} from '@spotalis/core';
import type { Ledger } from '@spotalis/ledger';
import type { Deadline } from './deadline.ts';
import { ordinalOf, steerOrdinal } from '../steps/distribution/ordinal.ts';
import type { ReservationRequest, Reserver } from '../steps/distribution/reserver.ts';
import type { ReadablePod } from '../review/pod.ts';
import type { AdmissionRequest } from '../review/request.ts';
import type { Resolution, Workloads } from '../workload/workloads.ts';
import type { Outcome, Unsteered, UnsteeredReason } from './outcome.ts';

type Managed = Extract<Resolution, { kind: 'managed' }>;
type OurPod = Extract<GateVerdict, { ours: true }>;

/** One pod of a managed workload, with all that is known of it. */
interface Candidate {
  readonly uid: string;
  readonly pod: ReadablePod;
  readonly ours: OurPod;
  readonly found: Managed;
  readonly numbers: PolicyNumbers;
  readonly allowed: CapacityType | 'both';
  /** The placement; undefined where nobody wants substitutes. */
  readonly pool: string | undefined;
  /** Decide and take nothing: asked for by the request, or in read-only mode. */
  readonly dryRun: boolean;
  readonly readOnly: boolean;
  readonly warnings: readonly string[];
}

export interface AdmissionOptions {
  readonly workloads: Pick<Workloads, 'resolve'>;
  readonly reserver: Reserver;
  readonly ledger: Pick<Ledger, 'steer'>;
  readonly placement: Placement;
  /** False: no node is known to carry the labels that pods would be sent to. */
  readonly hasCapacity: () => boolean;
  /** True: decide as in a dry run and change nothing. */
  readonly readOnly: () => boolean;
}

/** The walk of one admission. Rejects only when nobody waits for the answer any more, or by a fault of this program. */
export class Admission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  async admit({ uid, view, pod }: AdmissionRequest, deadline: Deadline): Promise<Outcome> {
    const ours = gate(view);
    if (!ours.ours) return { result: 'left-alone', reason: ours.reason };
    if (pod === undefined) return unsteered('PodUnreadable', 'the pod is not one that can be read');

    // Once: it may change while this is decided, and what is written on the pod has to be what was taken for it.
    const readOnly = this.#options.readOnly();
    const dryRun = ours.dryRun || readOnly;
    let found: Resolution;
    try {
      found = await deadline.within(this.#options.workloads.resolve({ ...ours, dryRun }));
    } catch (error) {
      if (deadline.abandoned) throw error;
      return unsteered('OwnerUnknown', 'the owner of the pod could not be read in time', error);
    }
    switch (found.kind) {
      case 'unmanaged':
        return { result: 'left-alone', reason: found.reason };
      case 'missing':
        return unsteered('OwnerMissing', `${found.what} does not exist`);
      case 'managed':
        break;
    }
    const { policy } = found;
    if (policy.kind === 'none') return { result: 'left-alone', reason: 'NoPolicy' };
    if (!this.#options.hasCapacity()) return { result: 'left-alone', reason: 'NodeLabelsMissing' };
    const allowed = allowedTypes(pod.spec, this.#options.placement);
    if (allowed === 'none') {
      return unsteered(
        'PlacementConflict',
        'its own node affinity or nodeSelector allows neither spot nor on-demand',
      );
    }
    const warnings =
      policy.kind === 'invalid'
        ? policy.problems.map(({ message }) => `spotalis: on-demand, because ${message}`)
        : [];
    const wantsSubstitutes = policy.kind === 'valid' && policy.fallbackAfterMs !== 'never';
    const pool = wantsSubstitutes ? poolOf(pod.spec, this.#options.placement) : undefined;
    const { numbers } = policy;
    const candidate = { uid, pod, ours, found, numbers, allowed, pool, dryRun, readOnly, warnings };
    return ours.owner.kind === 'StatefulSet'
      ? this.#placeOrdinal(candidate, deadline)
      : this.#placeReplica(candidate, deadline);
  }

  async #placeReplica(candidate: Candidate, deadline: Deadline): Promise<Outcome> {
    const { uid, pod, ours, found, numbers, allowed, pool, dryRun } = candidate;
    const hash = pod.metadata.labels?.[foreignKeys.podTemplateHash] ?? '';
    const carried = readPodMark(pod.metadata.annotations ?? {}).token;
    const request: ReservationRequest = {
      revision: {
        workloadUid: found.workload.uid,
        replicaSetUid: ours.owner.uid,
        namespace: ours.namespace,
        name: ours.owner.name,
        podTemplateHash: hash,
      },
      token: uid,
      ...(carried === null ? {} : { carried }),
      policy: numbers,
      allowed,
      ...(pool === undefined ? {} : { pool }),
      ...(found.replicas === undefined ? {} : { replicas: found.replicas }),
      ...(found.birth === undefined ? {} : { birth: found.birth }),
      dryRun,
    };
    const reservation = await this.#options.reserver.reserve(request, deadline);
    const { token, type, rank, substitute, source, counts } = reservation;
    return {
      ...this.#steered(candidate, type, substitute, { kind: 'reserved', token, rank }),
      reason: source,
      revision: hash,
      counts,
      token,
      giveBack: () => this.#options.reserver.giveBack(request, reservation),
    };
  }

  async #placeOrdinal(candidate: Candidate, deadline: Deadline): Promise<Outcome> {
    const { uid, pod, found, numbers, allowed, pool, dryRun } = candidate;
    const labels = pod.metadata.labels ?? {};
    const ordinal = ordinalOf(pod.metadata.name ?? '', labels);
    if (ordinal === undefined) return unsteered('OrdinalUnknown', 'a pod of a StatefulSet without a number');
    const { firstOrdinal, workload } = found;
    const steering = await steerOrdinal(
      this.#options.ledger,
      {
        workloadUid: workload.uid,
        ordinal,
        firstOrdinal,
        token: uid,
        policy: numbers,
        allowed,
        pool,
        dryRun,
      },
      deadline,
    );
    if (steering.kind === 'unsteered') {
      return unsteered('VolumeUnknown', 'its volume is bound, and which capacity reaches it is not known');
    }
    return {
      ...this.#steered(candidate, steering.type, steering.substitute, { kind: 'ordinal' }),
      reason: steering.alone ? 'ordinal-alone' : 'ordinal',
      revision: labels[foreignKeys.controllerRevisionHash] ?? '',
      counts: undefined,
      token: undefined,
      giveBack: async () => undefined,
    };
  }

  #steered(
    { pod, found, numbers, warnings, ours, readOnly }: Candidate,
    type: CapacityType,
    substitute: boolean,
    place: Parameters<typeof admitPod>[1]['place'],
  ) {
    const admitted = { type, numbers, substitute, place };
    const { operations, foreignDeletionCost } = admitPod(pod, admitted, this.#options.placement);
    return {
      result: 'steered',
      type,
      substitute,
      workload: found.workload,
      numbers,
      patch: readOnly ? [] : operations,
      warnings:
        foreignDeletionCost === null ? warnings : [...warnings, foreignCostWarning(foreignDeletionCost)],
      dryRun: ours.dryRun,
      readOnly,
    } as const;
  }
}

function foreignCostWarning(cost: string): string {
  return `spotalis: ${foreignKeys.podDeletionCost} is ${cost} in the template and is kept, so scale-downs are not exact`;
}

function unsteered(reason: UnsteeredReason, why: string, error?: unknown): Unsteered {
  const warnings = [`spotalis: this pod's capacity type was not chosen: ${why}`];
  return { result: 'unsteered', reason, warnings, ...(error === undefined ? {} : { error }) };
}
