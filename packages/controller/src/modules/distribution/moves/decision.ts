import {
  evictionFor,
  type ObservedWorkload,
  type RebalanceTrace,
  removalFor,
  type Verdict,
} from '@spotalis/core';
import { subjectOfWorkload } from '../../../kernel/cluster/subject.ts';
import { askerOf, type Decision, type Intent } from '../../../kernel/module.ts';
import type { AnnotationKind, Change } from '../annotate/annotator.ts';

export type Bridge = Extract<Verdict, { kind: 'bridge' }>;

/** What is done about a workload without disturbing a pod that has run. */
export type Effect =
  /** In place of what was wanted before; without changes nothing is to be written any more. */
  | { readonly kind: 'annotate'; readonly as: AnnotationKind; readonly changes: readonly Change[] }
  /** The ledger and the pods differ: a LIST tells which of the two is right. */
  | { readonly kind: 'relist' }
  /** Write the breaker, if anything, before pods are removed. */
  | { readonly kind: 'bridge'; readonly bridge: Bridge; readonly trace: RebalanceTrace };

export type RebalanceDecision = Decision<RebalanceTrace, Effect>;

const noChanges: Effect = { kind: 'annotate', as: 'correct', changes: [] };

/** What a decision of core means to the kernel. */
export function decisionOf(
  trace: RebalanceTrace,
  workload: ObservedWorkload,
  nowMs: number,
): RebalanceDecision {
  const { verdict } = trace;
  return {
    trace,
    effects: effectsOf(trace),
    intents: intentsOf(trace, workload, nowMs),
    againAtMs: verdict.kind === 'wait' ? verdict.untilMs : null,
  };
}

/** The same, of which all has been carried out. */
export const carriedOut = (trace: RebalanceTrace): RebalanceDecision => ({
  trace,
  effects: [],
  intents: [],
  againAtMs: null,
});

function effectsOf(trace: RebalanceTrace): readonly Effect[] {
  const { verdict, reason } = trace;
  switch (verdict.kind) {
    case 'correct':
      return [{ kind: 'annotate', as: 'correct', changes: verdict.corrections }];
    case 'renumber':
      return [{ kind: 'annotate', as: 'renumber', changes: verdict.renumberings }];
    case 'bridge':
      return [noChanges, { kind: 'bridge', bridge: verdict, trace }];
    case 'move':
      return [noChanges];
    case 'nothing':
    case 'wait':
    case 'prove':
      return reason === 'LedgerDiffers' ? [noChanges, { kind: 'relist' }] : [noChanges];
    default:
      return verdict satisfies never;
  }
}

function intentsOf(
  { verdict, reason }: RebalanceTrace,
  workload: ObservedWorkload,
  nowMs: number,
): readonly Intent[] {
  const { uid, namespace = '' } = workload.metadata;
  const subject = askerOf('distribution', subjectOfWorkload(workload));
  const asker = { subject, disrupts: { uid, namespace }, nowMs };
  if (verdict.kind === 'move') return [evictionFor(asker, reason, verdict.move)];
  return verdict.kind === 'bridge' && verdict.remove.length > 0 ? [removalFor(asker, verdict.remove)] : [];
}
