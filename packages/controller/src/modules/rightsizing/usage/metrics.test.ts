import { describe, expect, it } from '@jest/globals';
import { Metrics } from '@spotalis/runtime';
import { usageMetrics } from './metrics.ts';

describe('the metrics of usage', () => {
  it('count each failure and each value left out, from 0', async () => {
    const metrics = new Metrics();
    const { finished } = usageMetrics(metrics).counter('prometheus');
    finished({ kind: 'failed', problem: { reason: 'Late', message: '' } });
    finished({ kind: 'read', value: [], dropped: { NotANumber: 3, Duplicate: 1 } });
    finished({ kind: 'read', value: [], dropped: { NotANumber: 1 } });
    let text = '';
    for await (const part of metrics.page()) text += String(part);
    const of = (metric: string, reason: string) =>
      new RegExp(
        `^spotalis_rightsizing_usage_${metric}_total{provider="prometheus",reason="${reason}"} (\\d+)$`,
        'm',
      ).exec(text)?.[1];
    expect([of('failures', 'Late'), of('failures', 'Partial')]).toEqual(['1', '0']);
    expect(['NotANumber', 'Duplicate', 'Unlabelled'].map((reason) => of('values_dropped', reason))).toEqual([
      '4',
      '1',
      '0',
    ]);
  });
});
