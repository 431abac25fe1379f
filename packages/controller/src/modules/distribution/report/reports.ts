import { isDeepStrictEqual } from 'node:util';
import {
  namespaceProblems,
  type ObservedWorkload,
  type PolicyReading,
  type TypeCounts,
} from '@spotalis/core';
import type { ReconcileResult } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import type { Cluster } from '../../kernel/cluster/cluster.ts';
import type { Reaches } from './ledger/reaches.ts';
import type { Ledgers } from './ledger/ledgers.ts';
import type { Rebalancer } from './rebalance/rebalancer.ts';
import type { LedgerReading } from './rebalance/snapshot.ts';
import { countWorkload, type WorkloadCount } from './report/count.ts';
import type { ReportedWorkload } from './report/workloads.ts';
import type { Problems } from './report/problems.ts';
import { parseSubject, referenceTo, subjectOfWorkload } from '../../kernel/cluster/subject.ts';

/** While the ledger is out of reach its part of the report is missing. */
const AGAIN_MS = 5_000;

export interface ReconcilerParts {
  readonly cluster: Cluster;
  readonly problems: Problems;
  readonly logger: Logger;
  readonly policyOf: (workload: ObservedWorkload) => PolicyReading;
  readonly ledgers: Pick<Ledgers, 'read'>;
  /** Undefined where nobody else could be told. */
  readonly reaches: Pick<Reaches, 'tell' | 'forget'> | undefined;
  readonly rebalancer: Pick<Rebalancer, 'look' | 'follow' | 'forget'>;
  /** Some namespaces only may be written to, so that an Event about a Namespace has to go into itself. */
  readonly isConfined?: boolean;
  readonly resyncPeriodMs: number;
  readonly random: () => number;
}

/** Looks at one workload: counts it, says what is wrong with its annotations, has it repaired. Or at a Namespace. */
export class Reconciler {
  readonly #parts: ReconcilerParts;
  readonly #reported = new Map<string, ReportedWorkload>();

  constructor(parts: ReconcilerParts) {
    this.#parts = parts;
  }

  /** What was last reported, by workload. */
  get reported(): ReadonlyMap<string, ReportedWorkload> {
    return this.#reported;
  }

  async reconcile(key: string): Promise<ReconcileResult | undefined> {
    const subject = parseSubject(key);
    if (subject === undefined) return undefined;
    if (subject.kind === 'Namespace') {
      this.#lookAtNamespace(key, subject.key);
      return undefined;
    }
    const { cluster, rebalancer, reaches, resyncPeriodMs, ledgers, random } = this.#parts;
    const workload = cluster.workload(subject.kind, subject.key);
    if (workload === undefined || !cluster.isManaged(workload)) {
      const againInMs = this.#forget(key, workload);
      return againInMs === undefined ? undefined : { requeueAfterMs: againInMs };
    }
    if (this.#reported.get(key)?.workload.metadata.uid !== workload.metadata.uid) this.#forget(key, workload);
    const policy = this.#parts.policyOf(workload);
    const ledger = await ledgers.read(workload);
    this.#report(key, workload, policy, ledger);
    await reaches?.tell(workload);
    const againInMs = await rebalancer.look(key, workload, policy, ledger);
    const periodMs = ledger.kind === 'reachable' ? resyncPeriodMs : Math.min(AGAIN_MS, resyncPeriodMs);
    // Up to a tenth later, so that workloads found together are not looked at together for ever.
    const resyncInMs = periodMs * (1 + random() / 10);
    return { requeueAfterMs: againInMs === undefined ? resyncInMs : Math.min(againInMs, resyncInMs) };
  }

  #report(key: string, workload: ObservedWorkload, policy: PolicyReading, ledger: LedgerReading): void {
    const { cluster, problems } = this.#parts;
    // What is wrong on the Namespace is told there, once for all its workloads.
    const own = policy.problems.filter(({ where }) => where === 'workload');
    problems.tell(key, referenceTo(workload.workloadKind, workload), own);
    const count = countWorkload(
      { replicas: workload.replicas, pods: cluster.podsOf(workload), policy },
      (pod) => cluster.nodeTypeOf(pod),
    );
    const isInvalid = policy.kind === 'invalid' || policy.kind === 'frozen';
    const report = { count, reserved: reservedIn(workload, ledger), isInvalid };
    this.#logChange(workload, this.#reported.get(key)?.report.count, count);
    this.#reported.set(key, { workload, report });
  }

  #lookAtNamespace(key: string, name: string): void {
    const { cluster, problems, isConfined } = this.#parts;
    const namespace = cluster.namespaces.get(name);
    if (namespace === undefined || !cluster.isOpenTo(namespace)) {
      problems.forget(key);
      return;
    }
    const reference = referenceTo('Namespace', namespace);
    const regarding = isConfined ? { ...reference, namespace: name } : reference;
    problems.tell(key, regarding, namespaceProblems(namespace.annotations));
  }

  /**
   * `now`: what is there under the key, if anything: not ours any more, or another one than before. Returns the
   * milliseconds after which to look again.
   */
  #forget(key: string, now: ObservedWorkload | undefined): number | undefined {
    const { problems, rebalancer, reaches } = this.#parts;
    // A move that is still under way goes on counting.
    const againInMs = now && rebalancer.follow(now.metadata.uid);
    const reported = this.#reported.get(key);
    if (reported === undefined) return againInMs;
    this.#reported.delete(key);
    problems.forget(key);
    reaches?.forget(reported.workload.metadata.uid);
    const isGone = reported.workload.metadata.uid !== now?.metadata.uid;
    rebalancer.forget(key, reported.workload.metadata.uid, isGone);
    return againInMs;
  }

  #logChange(workload: ObservedWorkload, before: WorkloadCount | undefined, now: WorkloadCount): void {
    if (isDeepStrictEqual(before, now)) return;
    const { actual, desired } = now;
    const fields = { workload: subjectOfWorkload(workload), actual, desired };
    // A new leader sees every workload for the first time, and nothing has happened.
    if (before === undefined) this.#parts.logger.debug('split', fields);
    else this.#parts.logger.info('split changed', fields);
  }
}

/** Undefined where nobody can say, and for a StatefulSet, which reserves nothing. */
function reservedIn(
  { workloadKind }: ObservedWorkload,
  { kind, counts }: LedgerReading,
): TypeCounts | undefined {
  if (kind === 'unreachable' || workloadKind !== 'Deployment') return undefined;
  const sum = { spot: 0, onDemand: 0 };
  for (const { spot, onDemand } of counts.values()) {
    sum.spot += spot;
    sum.onDemand += onDemand;
  }
  return sum;
}
