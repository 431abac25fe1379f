import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { Metrics } from '@spotalis/runtime';
import { viewConditions } from './views.ts';
import { aDeployment } from '../../../testing/objects.ts';
import { viewWorkloads, type WorkloadReport } from './workloads.ts';

const web = 'namespace="shop",workload="web",workload_type="Deployment"';
const workload = aDeployment();

const report: WorkloadReport = {
  count: {
    actual: { spot: 4, onDemand: 3, unknown: 1 },
    substitutes: 2,
    desired: { spot: 5, onDemand: 3 },
  },
  reserved: { spot: 4, onDemand: 4 },
  isInvalid: false,
};

async function linesOf(metrics: Metrics, name: string): Promise<readonly string[]> {
  const page = await text(metrics.page());
  return page.split('\n').filter((line) => line.startsWith(`${name}{`));
}

describe('the gauges of workloads', () => {
  it('are what was last reported', async () => {
    const metrics = new Metrics();
    let last = { workload, report: { ...report, isInvalid: true } };
    viewWorkloads(metrics, () => [last]);
    last = { workload, report };
    expect(await linesOf(metrics, 'spotalis_workload_replicas')).toEqual(
      [
        'capacity_type="spot",state="desired"} 5',
        'capacity_type="on-demand",state="desired"} 3',
        'capacity_type="spot",state="actual"} 4',
        'capacity_type="on-demand",state="actual"} 3',
        'capacity_type="spot",state="reserved"} 4',
        'capacity_type="on-demand",state="reserved"} 4',
        'capacity_type="unknown",state="actual"} 1',
        'capacity_type="on-demand",state="substitute"} 2',
      ].map((rest) => `spotalis_workload_replicas{${web},${rest}`),
    );
    expect(await linesOf(metrics, 'spotalis_policy_invalid')).toEqual([`spotalis_policy_invalid{${web}} 0`]);
  });

  it('leave out what nobody knows, and workloads that are gone', async () => {
    const metrics = new Metrics();
    const count = { ...report.count, desired: undefined };
    const reported = new Map([
      ['web', { workload, report: { count, reserved: undefined, isInvalid: true } }],
    ]);
    viewWorkloads(metrics, () => reported.values());
    const page = await text(metrics.page());
    expect(page).not.toMatch(/state="(desired|reserved)"/);
    expect(await linesOf(metrics, 'spotalis_policy_invalid')).toEqual([`spotalis_policy_invalid{${web}} 1`]);
    reported.clear();
    expect(await text(metrics.page())).not.toContain(web);
  });

  it('tell the drift and for how long there has been one, for how long its repair has been due, and of droughts where somebody watches for them', async () => {
    const metrics = new Metrics();
    const other = { ...workload, metadata: { ...workload.metadata, name: 'other' } };
    viewConditions(metrics, () => [
      { workload, drift: -1, driftSeconds: 2.5, dueSeconds: 1.5, drought: 'open' },
      { workload: other, drift: null, driftSeconds: 0, dueSeconds: 0, drought: null },
    ]);
    expect(await linesOf(metrics, 'spotalis_workload_drift')).toEqual([`spotalis_workload_drift{${web}} -1`]);
    expect(await linesOf(metrics, 'spotalis_workload_drift_seconds')).toEqual([
      `spotalis_workload_drift_seconds{${web}} 2.5`,
      `spotalis_workload_drift_seconds{${web.replace('web', 'other')}} 0`,
    ]);
    expect(await linesOf(metrics, 'spotalis_workload_repair_due_seconds')).toContain(
      `spotalis_workload_repair_due_seconds{${web}} 1.5`,
    );
    expect(await linesOf(metrics, 'spotalis_drought_state')).toEqual([`spotalis_drought_state{${web}} 2`]);
  });
});
