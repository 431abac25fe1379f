import { isDeepStrictEqual } from 'node:util';
import {
  namespaceProblems,
  type ObservedWorkload,
  type PolicyReading,
  type TypeCounts,
} from '@spotalis/core';
import type { Logger } from '@spotalis/runtime';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';
import { referenceTo, subjectOfWorkload } from '../../../kernel/cluster/subject.ts';
import type { LedgerReading } from '../moves/snapshot.ts';
import { countWorkload, type WorkloadCount } from './count.ts';
import type { Problems } from './problems.ts';
import type { ReportedWorkload } from './workloads.ts';

export interface ReportsParts {
  readonly cluster: Cluster;
  readonly problems: Problems;
  /** Some namespaces only may be written to, so that an Event about a Namespace has to go into itself. */
  readonly isConfined: boolean;
  readonly logger: Logger;
}

/** How each workload is split, and what is wrong with its annotations or with those of its Namespace. */
export class Reports {
  readonly #parts: ReportsParts;
  readonly #reported = new Map<string, ReportedWorkload>();

  constructor(parts: ReportsParts) {
    this.#parts = parts;
  }

  /** What was last reported, by workload. */
  get reported(): ReadonlyMap<string, ReportedWorkload> {
    return this.#reported;
  }

  report(key: string, workload: ObservedWorkload, policy: PolicyReading, ledger: LedgerReading): void {
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

  lookAtNamespace(key: string, name: string): void {
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

  /** Returns what was reported last. */
  forget(key: string): ObservedWorkload | undefined {
    const reported = this.#reported.get(key);
    if (reported === undefined) return undefined;
    this.#reported.delete(key);
    this.#parts.problems.forget(key);
    return reported.workload;
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
