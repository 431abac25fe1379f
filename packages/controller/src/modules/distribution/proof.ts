import { capacityTypes, keepsPlaceholder, type ObservedWorkload, type RebalanceTrace } from '@spotalis/core';
import type { Moves } from './moves/moves.ts';
import type { Cluster } from '../../kernel/cluster/cluster.ts';
import type { Placeholders } from '../../kernel/proof/placeholders.ts';

export interface ProofParts {
  readonly placeholders: Pick<Placeholders, 'want' | 'keep' | 'release'>;
  readonly moves: Pick<Moves, 'of'>;
  readonly cluster: Pick<Cluster, 'podsOf'>;
}

/** Says what placeholders a look at a workload calls for, moves being the purpose. */
export function tendProof(parts: ProofParts, workload: ObservedWorkload, trace: RebalanceTrace): void {
  const { placeholders, moves } = parts;
  const { uid, name, namespace = '' } = workload.metadata;
  const { verdict } = trace;
  const move = moves.of(uid);
  for (const type of capacityTypes) {
    const subject = { kind: workload.workloadKind, namespace, name, uid, type };
    const keeps =
      move === undefined
        ? keepsPlaceholder(trace, type)
        : move.to === type && awaitsPlace(parts, workload, move.present);
    if (verdict.kind === 'prove' && verdict.to === type) placeholders.want(subject, verdict.shape, 'move');
    else if (keeps) placeholders.keep(subject, 'move');
    else placeholders.release(uid, type, 'move');
  }
}

/** Whether the replacement has still to take the placeholder's place, and can by itself. */
function awaitsPlace(
  { cluster }: ProofParts,
  workload: ObservedWorkload,
  present: readonly string[],
): boolean {
  const before = new Set(present);
  const fresh = cluster.podsOf(workload).filter(({ metadata, ended }) => !ended && !before.has(metadata.uid));
  return fresh.every(({ nodeName, preemptsPlaceholders }) => nodeName === undefined && preemptsPlaceholders);
}
