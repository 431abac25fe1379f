import {
  admitPod,
  allowedTypes,
  type CapacityType,
  foreignKeys,
  type Placement,
  podKeys,
  type PolicyNumbers,
  poolOf,
  readPodMark,
} from '@spotalis/core';
import type { Ledger } from '@spotalis/ledger';
import type { Deadline } from '../../admission/deadline.ts';
import { pointerTo } from '../../admission/patch.ts';
import { leftAlone, unsteered } from '../../admission/record.ts';
import type { Step, StepContext, StepResult } from '../../admission/step.ts';
import type { ReadablePod } from '../../review/pod.ts';
import { ordinalOf, steerOrdinal } from './ordinal.ts';
import type { DistributionRecord, Steered } from './record.ts';
import type { ReservationRequest, Reserver } from './reserver.ts';

/** One pod with what its policy and its own constraints say. */
interface Candidate {
  readonly pod: ReadablePod;
  readonly context: StepContext;
  readonly numbers: PolicyNumbers;
  readonly allowed: CapacityType | 'both';
  /** The placement; undefined where nobody wants substitutes. */
  readonly pool: string | undefined;
  readonly warnings: readonly string[];
}

/** What was decided for one pod, and how. */
interface Decided extends Omit<Steered, 'result' | 'workload' | 'numbers'> {
  readonly place: Parameters<typeof admitPod>[1]['place'];
  readonly undo: () => Promise<void>;
}

export interface DistributionStepOptions {
  readonly reserver: Pick<Reserver, 'reserve' | 'cancel'>;
  readonly ledger: Pick<Ledger, 'steer'>;
  readonly placement: Placement;
  /** False: no node is known to carry the labels that pods would be sent to. */
  readonly hasCapacity: () => boolean;
}

const written = [
  podKeys.capacityType,
  podKeys.policy,
  podKeys.substitute,
  podKeys.reservation,
  podKeys.rank,
  foreignKeys.podDeletionCost,
];

const nothing = async (): Promise<void> => undefined;

/** Chooses whether a pod runs on spot or on on-demand capacity: one round trip to the ledger. */
export class DistributionStep implements Step<DistributionRecord> {
  readonly name = 'distribution';
  readonly writes = [
    ...written.map((key) => pointerTo('metadata', 'annotations', key)),
    '/spec/nodeSelector',
    '/spec/affinity',
    '/spec/tolerations',
    '/spec/topologySpreadConstraints',
  ];
  readonly #options: DistributionStepOptions;

  constructor(options: DistributionStepOptions) {
    this.#options = options;
  }

  /** Rejects only when the deadline was abandoned, or by a fault of this program. */
  async decide(
    pod: ReadablePod,
    context: StepContext,
    deadline: Deadline,
  ): Promise<StepResult<DistributionRecord>> {
    const { placement, hasCapacity } = this.#options;
    const { policy } = context.managed;
    if (policy.kind === 'none') return unchanged(leftAlone('NoPolicy'));
    if (!hasCapacity()) return unchanged(leftAlone('NodeLabelsMissing'));
    const allowed = allowedTypes(pod.spec, placement);
    if (allowed === 'none') {
      return unchanged(
        unsteered(
          'PlacementConflict',
          'its own node affinity or nodeSelector allows neither spot nor on-demand',
        ),
      );
    }
    const warnings =
      policy.kind === 'invalid'
        ? policy.problems.map(({ message }) => `spotalis: on-demand, because ${message}`)
        : [];
    const wantsSubstitutes = policy.kind === 'valid' && policy.fallbackAfterMs !== 'never';
    const pool = wantsSubstitutes ? poolOf(pod.spec, placement) : undefined;
    const candidate = { pod, context, numbers: policy.numbers, allowed, pool, warnings };
    return context.owner.kind === 'StatefulSet'
      ? this.#decideOrdinal(candidate, deadline)
      : this.#decideReplica(candidate, deadline);
  }

  async #decideReplica(candidate: Candidate, deadline: Deadline): Promise<StepResult<DistributionRecord>> {
    const { pod, context, numbers, allowed, pool } = candidate;
    const { requestUid, namespace, owner, managed, dryRun } = context;
    const hash = pod.metadata.labels?.[foreignKeys.podTemplateHash] ?? '';
    const carried = readPodMark(pod.metadata.annotations ?? {}).token;
    const request: ReservationRequest = {
      revision: {
        workloadUid: managed.workload.uid,
        replicaSetUid: owner.uid,
        namespace,
        name: owner.name,
        podTemplateHash: hash,
      },
      token: requestUid,
      ...(carried === null ? {} : { carried }),
      policy: numbers,
      allowed,
      ...(pool === undefined ? {} : { pool }),
      ...(managed.replicas === undefined ? {} : { replicas: managed.replicas }),
      ...(managed.birth === undefined ? {} : { birth: managed.birth }),
      dryRun,
    };
    const reservation = await this.#options.reserver.reserve(request, deadline);
    const { token, type, rank, substitute, source, counts } = reservation;
    return this.#steered(candidate, {
      reason: source,
      type,
      substitute,
      place: { kind: 'reserved', token, rank },
      revision: hash,
      counts,
      token,
      undo: () => this.#options.reserver.cancel(request, reservation),
    });
  }

  async #decideOrdinal(candidate: Candidate, deadline: Deadline): Promise<StepResult<DistributionRecord>> {
    const { pod, context, numbers, allowed, pool } = candidate;
    const { requestUid, managed, dryRun } = context;
    const labels = pod.metadata.labels ?? {};
    const ordinal = ordinalOf(pod.metadata.name ?? '', labels);
    if (ordinal === undefined) {
      return unchanged(unsteered('OrdinalUnknown', 'a pod of a StatefulSet without a number'));
    }
    const steering = await steerOrdinal(
      this.#options.ledger,
      {
        workloadUid: managed.workload.uid,
        ordinal,
        firstOrdinal: managed.firstOrdinal,
        token: requestUid,
        policy: numbers,
        allowed,
        pool,
        dryRun,
      },
      deadline,
    );
    if (steering.kind === 'unsteered') {
      return unchanged(
        unsteered('VolumeUnknown', 'its volume is bound, and which capacity reaches it is not known'),
      );
    }
    return this.#steered(candidate, {
      reason: steering.alone ? 'ordinal-alone' : 'ordinal',
      type: steering.type,
      substitute: steering.substitute,
      place: { kind: 'ordinal' },
      revision: labels[foreignKeys.controllerRevisionHash] ?? '',
      counts: undefined,
      token: undefined,
      undo: nothing,
    });
  }

  #steered({ pod, context, numbers, warnings }: Candidate, decided: Decided): StepResult<Steered> {
    const { place, undo, ...decision } = decided;
    const { type, substitute } = decision;
    const { operations, foreignDeletionCost: cost } = admitPod(
      pod,
      { type, numbers, substitute, place },
      this.#options.placement,
    );
    return {
      operations,
      warnings: cost === null ? warnings : [...warnings, foreignCostWarning(cost)],
      record: { result: 'steered', ...decision, workload: context.managed.workload, numbers },
      undo,
    };
  }
}

function unchanged(record: Exclude<DistributionRecord, Steered>): StepResult<DistributionRecord> {
  const warnings = record.result === 'unsteered' ? record.warnings : [];
  return { operations: [], warnings, record, undo: nothing };
}

function foreignCostWarning(cost: string): string {
  return `spotalis: ${foreignKeys.podDeletionCost} is ${cost} in the template and is kept, so scale-downs are not exact`;
}
