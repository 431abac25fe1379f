import { isDeepStrictEqual } from 'node:util';
import {
  enabledLabel,
  namespaceProblems,
  type PolicyDefaults,
  readPolicy,
  type TypeCounts,
} from '@spotalis/core';
import type { ReconcileResult } from '@spotalis/kube';
import { type Ledger, LedgerUnavailable } from '@spotalis/ledger';
import type { Logger } from '@spotalis/runtime';
import { type Cluster, revisionOf } from '../observe/cluster.ts';
import type { ObservedWorkload } from '../observe/workload.ts';
import { countWorkload, type WorkloadCount } from './count.ts';
import type { LeadMetrics, WorkloadReport } from './metrics.ts';
import type { Problems } from './problems.ts';
import { parseSubject, referenceTo } from './subject.ts';

/** While the ledger is out of reach its part of the report is missing. */
const AGAIN_MS = 5_000;

export interface ReconcilerParts {
  readonly cluster: Cluster;
  readonly problems: Problems;
  readonly metrics: Pick<LeadMetrics, 'show'>;
  readonly logger: Logger;
  readonly policyDefaults: () => PolicyDefaults;
  /** Undefined where no ledger is shared. */
  readonly ledger: Pick<Ledger, 'counts'> | undefined;
  readonly resyncPeriodMs: number;
  readonly random: () => number;
}

/** Counts one workload and reports it; says what is wrong with its annotations, or with those of a Namespace. */
export class Reconciler {
  readonly #parts: ReconcilerParts;
  readonly #shown = new Map<
    string,
    { readonly workload: ObservedWorkload; readonly report: WorkloadReport }
  >();

  constructor(parts: ReconcilerParts) {
    this.#parts = parts;
  }

  /** What was last reported, by workload. */
  reports(): ReadonlyMap<string, WorkloadReport> {
    return new Map([...this.#shown].map(([subject, { report }]) => [subject, report]));
  }

  async reconcile(key: string): Promise<ReconcileResult | undefined> {
    const subject = parseSubject(key);
    if (subject === undefined) return undefined;
    if (subject.kind === 'Namespace') {
      this.#lookAtNamespace(key, subject.key);
      return undefined;
    }
    const workload = this.#parts.cluster.workload(subject.kind, subject.key);
    if (workload === undefined || !this.#parts.cluster.isManaged(workload)) {
      this.#forget(key);
      return undefined;
    }
    const isComplete = await this.#report(key, workload);
    const periodMs = isComplete ? this.#parts.resyncPeriodMs : Math.min(AGAIN_MS, this.#parts.resyncPeriodMs);
    // Up to a tenth later, so that workloads found together are not looked at together for ever.
    return { requeueAfterMs: periodMs * (1 + this.#parts.random() / 10) };
  }

  /** Returns false when the ledger could not say what it holds. */
  async #report(key: string, workload: ObservedWorkload): Promise<boolean> {
    const { cluster, problems, metrics, policyDefaults } = this.#parts;
    const policy = readPolicy({
      workload: workload.annotations,
      namespace: cluster.namespaces.get(workload.metadata.namespace ?? '')?.annotations ?? {},
      defaults: policyDefaults(),
    });
    // What is wrong on the Namespace is told there, once for all its workloads.
    const own = policy.problems.filter(({ where }) => where === 'workload');
    problems.tell(key, referenceTo(workload.workloadKind, workload), own);
    const count = countWorkload(
      { replicas: workload.replicas, pods: cluster.podsOf(workload), policy },
      (pod) => cluster.nodeTypeOf(pod),
    );
    const isInvalid = policy.kind === 'invalid' || policy.kind === 'frozen';
    const reserved = await this.#reservedBy(workload);
    const report = { count, reserved: reserved === 'unavailable' ? undefined : reserved, isInvalid };
    metrics.show(workload, report);
    this.#logChange(workload, this.#shown.get(key)?.report.count, count);
    this.#shown.set(key, { workload, report });
    return reserved !== 'unavailable';
  }

  #lookAtNamespace(key: string, name: string): void {
    const namespace = this.#parts.cluster.namespaces.get(name);
    if (namespace?.labels[enabledLabel] !== 'true') {
      this.#parts.problems.forget(key);
      return;
    }
    this.#parts.problems.tell(
      key,
      referenceTo('Namespace', namespace),
      namespaceProblems(namespace.annotations),
    );
  }

  #forget(key: string): void {
    const shown = this.#shown.get(key);
    if (shown !== undefined) this.#parts.metrics.show(shown.workload, undefined);
    this.#shown.delete(key);
    this.#parts.problems.forget(key);
  }

  async #reservedBy(workload: ObservedWorkload): Promise<TypeCounts | 'unavailable' | undefined> {
    const { ledger, cluster } = this.#parts;
    if (ledger === undefined || workload.workloadKind !== 'Deployment') return undefined;
    const sum = { spot: 0, onDemand: 0 };
    try {
      for (const replicaSet of cluster.replicaSetsOf(workload)) {
        if (replicaSet.replicas === 0 && cluster.pods.countBy('controller', replicaSet.metadata.uid) === 0)
          continue;
        const { spot, onDemand } = await ledger.counts(revisionOf(workload, replicaSet));
        sum.spot += spot;
        sum.onDemand += onDemand;
      }
    } catch (error) {
      if (error instanceof LedgerUnavailable) return 'unavailable';
      throw error;
    }
    return sum;
  }

  #logChange(workload: ObservedWorkload, before: WorkloadCount | undefined, now: WorkloadCount): void {
    if (isDeepStrictEqual(before, now)) return;
    const { namespace, name } = workload.metadata;
    const { actual, desired, drift } = now;
    const fields = { workload: `${workload.workloadKind}/${namespace}/${name}`, actual, desired, drift };
    // A new leader sees every workload for the first time, and nothing has happened.
    if (before === undefined) this.#parts.logger.debug('split', fields);
    else this.#parts.logger.info('split changed', fields);
  }
}
