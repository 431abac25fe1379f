import { gate } from '@spotalis/core';
import type { AdmissionRequest } from '../review/request.ts';
import type { Resolution, Workloads } from '../workload/workloads.ts';
import type { Chain, ChainResult } from './chain.ts';
import type { Deadline } from './deadline.ts';
import { leftAlone, type Skipped, unsteered } from './record.ts';

export interface AdmissionResult<R> extends ChainResult<R | Skipped> {
  readonly dryRun: boolean;
  /** Decided, and nothing was written, neither in the ledger nor on the pod. */
  readonly readOnly: boolean;
}

export interface AdmissionHandlerOptions<R> {
  readonly workloads: Pick<Workloads, 'resolve'>;
  readonly chain: Chain<R>;
  /** True: decide as in a dry run and change nothing. */
  readonly readOnly: () => boolean;
}

/** The walk of one admission: gate, workload, steps, one patch. */
export class AdmissionHandler<R> {
  readonly #options: AdmissionHandlerOptions<R>;

  constructor(options: AdmissionHandlerOptions<R>) {
    this.#options = options;
  }

  /** Rejects only when nobody waits for the answer any more, or by a fault of this program. */
  async admit({ uid, view, pod }: AdmissionRequest, deadline: Deadline): Promise<AdmissionResult<R>> {
    if (this.#options.chain.isEmpty) return skipped(leftAlone('ModulesOff'));
    const gated = gate(view);
    if (!gated.ours) return skipped(leftAlone(gated.reason));
    if (pod === undefined) {
      return skipped(unsteered('PodUnreadable', 'the pod is not one that can be read'));
    }
    const { workloads, chain } = this.#options;
    // Read once: it may change meanwhile, and what is written on the pod has to be what was taken for it.
    const readOnly = this.#options.readOnly();
    const dryRun = gated.dryRun || readOnly;
    let managed: Resolution;
    try {
      managed = await deadline.within(workloads.resolve({ ...gated, dryRun }));
    } catch (error) {
      if (deadline.abandoned) throw error;
      return skipped(unsteered('OwnerUnknown', 'the owner of the pod could not be read in time', error));
    }
    if (managed.kind === 'unmanaged') return skipped(leftAlone(managed.reason));
    if (managed.kind === 'missing') {
      return skipped(unsteered('OwnerMissing', `${managed.what} does not exist`));
    }
    const { namespace, owner } = gated;
    const result = await chain.run(pod, { requestUid: uid, namespace, owner, managed, dryRun }, deadline);
    return {
      ...result,
      operations: readOnly ? [] : result.operations,
      dryRun: gated.dryRun,
      readOnly,
    };
  }
}

function skipped<R>(record: Skipped): AdmissionResult<R> {
  return {
    operations: [],
    warnings: record.result === 'unsteered' ? record.warnings : [],
    records: [record],
    leftOut: [],
    dryRun: false,
    readOnly: false,
    undo: async () => undefined,
  };
}
