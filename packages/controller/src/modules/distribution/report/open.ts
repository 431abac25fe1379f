import { wallMs } from '../../../kernel/clocks.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import { type MoveMetrics, moveMetrics } from './metrics.ts';
import { Narrator } from './narrator.ts';
import { Problems } from './problems.ts';
import { Reports } from './reports.ts';
import { viewConditions } from './views.ts';
import { viewWorkloads } from './workloads.ts';

/** What people are told of workloads. */
export interface Reporting {
  readonly moveMetric: MoveMetrics;
  readonly narrator: Narrator;
  readonly reports: Reports;
}

export function openReporting({ cluster, isConfined, recorder, metrics, logger }: Kernel): Reporting {
  const moveMetric = moveMetrics(metrics);
  const narrator = new Narrator({ recorder, metrics: moveMetric, logger });
  const reports = new Reports({ cluster, problems: new Problems(recorder), isConfined, logger });
  viewConditions(metrics, () => narrator.conditions(wallMs()));
  viewWorkloads(metrics, () => reports.reported.values());
  return { moveMetric, narrator, reports };
}
