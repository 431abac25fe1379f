import { reasonTraits } from '@spotalis/core';
import type { Module } from '../../kernel/module.ts';
import { droughtMetricSpecs } from './droughts/narrator.ts';
import { openDistribution } from './open.ts';
import { distributionEvents } from './report/events.ts';
import { moveMetricSpecs } from './report/metrics.ts';
import { conditionMetricSpecs } from './report/views.ts';
import { workloadMetricSpecs } from './report/workloads.ts';

/** Where pods run: keeps each workload split between spot and on-demand as its policy says. */
export const distribution: Module = {
  name: 'distribution',
  reasons: reasonTraits,
  metrics: [...workloadMetricSpecs, ...conditionMetricSpecs, ...moveMetricSpecs, ...droughtMetricSpecs],
  events: distributionEvents,
  watches: [],
  open: openDistribution,
};
