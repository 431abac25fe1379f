import { type RemovalReason, removalReasons } from '@spotalis/core';
import type { Metrics } from '@spotalis/runtime';
import type { CounterSpec, GaugeSpec } from '@spotalis/units';

const there: GaugeSpec<'state'> = {
  type: 'gauge',
  name: 'spotalis_placeholders',
  labels: ['state'],
  help: 'Placeholders that are there: waiting (no node yet) or running. From the leader only.',
};

const made: CounterSpec<never> = {
  type: 'counter',
  name: 'spotalis_placeholders_created_total',
  labels: [],
  help: 'Placeholders made to see whether there is capacity.',
};

const gone: CounterSpec<'reason'> = {
  type: 'counter',
  name: 'spotalis_placeholders_removed_total',
  labels: ['reason'],
  help: 'Placeholders removed: NotWanted (they have served, or are not needed any more), WaitedTooLong (no node came), TooOld, Ended, Outdated or TooMany. One that its pod preempted is in none of them.',
};

export const placeholderMetricSpecs = [there, made, gone] as const;

export function placeholderMetrics(metrics: Metrics) {
  const count = metrics.gauge(there);
  const created = metrics.counter(made);
  const removed = metrics.counter(gone);
  created.touch({});
  for (const reason of removalReasons) removed.touch({ reason });
  count.set({ state: 'waiting' }, 0);
  count.set({ state: 'running' }, 0);
  return {
    count(waiting: number, running: number): void {
      count.set({ state: 'waiting' }, waiting);
      count.set({ state: 'running' }, running);
    },
    created: () => created.add({}),
    removed: (reason: RemovalReason) => removed.add({ reason }),
  };
}

export type PlaceholderMetrics = ReturnType<typeof placeholderMetrics>;
