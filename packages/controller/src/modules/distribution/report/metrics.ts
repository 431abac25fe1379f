import {
  type CapacityType,
  capacityTypes,
  otherType,
  type RebalanceReason,
  rebalanceReasons,
} from '@spotalis/core';
import type { Metrics } from '@spotalis/runtime';
import type { CounterSpec, GaugeSpec } from '@spotalis/units';
import type { DisruptionResult } from '../../../kernel/disruption/register.ts';

const moves: CounterSpec<'from' | 'to' | 'result'> = {
  type: 'counter',
  name: 'spotalis_moves_total',
  labels: ['from', 'to', 'result'],
  help: 'Moves that ended: succeeded (the replacement is Ready on the intended type), failed (it came up on the other), timeout, superseded (no replacement was needed any more) or lost (the eviction never happened).',
};

const movesBlocked: CounterSpec<'reason'> = {
  type: 'counter',
  name: 'spotalis_moves_blocked_total',
  labels: ['reason'],
  help: 'How often a workload with drift began to be held for a reason; docs/reasons.md has them all.',
};

const corrections: CounterSpec<'kind'> = {
  type: 'counter',
  name: 'spotalis_pod_annotations_total',
  labels: ['kind'],
  help: 'Pods whose annotations the controller wrote: correct (the node is of another type) or renumber (deletion costs).',
};

const webhookServing: GaugeSpec<never> = {
  type: 'gauge',
  name: 'spotalis_webhook_serving',
  labels: [],
  help: '1 while the webhook answers the controller as it would answer the API server. From the leader only.',
};

export const moveMetricSpecs = [moves, movesBlocked, corrections, webhookServing] as const;

const results: readonly DisruptionResult[] = ['succeeded', 'failed', 'timeout', 'superseded', 'lost'];

export function moveMetrics(metrics: Metrics) {
  const moved = metrics.counter(moves);
  const blocked = metrics.counter(movesBlocked);
  const annotated = metrics.counter(corrections);
  const serving = metrics.gauge(webhookServing);
  for (const from of capacityTypes) {
    for (const result of results) moved.touch({ from, to: otherType(from), result });
  }
  for (const reason of rebalanceReasons) blocked.touch({ reason });
  for (const kind of ['correct', 'renumber'] as const) annotated.touch({ kind });
  serving.set({}, 0);

  return {
    moved: (from: CapacityType, to: CapacityType, result: DisruptionResult) =>
      moved.add({ from, to, result }),
    blocked: (reason: RebalanceReason) => blocked.add({ reason }),
    annotated: (kind: 'correct' | 'renumber', pods: number) => annotated.add({ kind }, pods),
    webhookServing: (isServing: boolean) => serving.set({}, isServing ? 1 : 0),
  };
}

export type MoveMetrics = ReturnType<typeof moveMetrics>;
