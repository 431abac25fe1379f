import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { createLogger, Metrics } from '@spotalis/runtime';
import { aResult } from '../testing/result.ts';
import { AdmissionReport } from './admissions.ts';
import { admissionMetrics, ledgerObserver } from './metrics.ts';

const silent = createLogger({
  service: 'test',
  level: 'error',
  format: 'json',
  stream: new Writable({ write: (_, __, done) => done() }),
});

describe('an admission that is counted', () => {
  it('is not among the steered if nothing of it is kept', async () => {
    const metrics = new Metrics();
    const report = new AdmissionReport({ metrics: admissionMetrics(metrics), logger: silent });
    report.answered('u', aResult(), 1);
    report.answered('u', aResult({ dryRun: true }), 1);
    report.answered('u', aResult({ readOnly: true }), 1);
    const page = await text(metrics.page());
    const series = (result: string): string =>
      `spotalis_admissions_total{result="${result}",capacity_type="spot",reason="ledger"}`;
    expect(page).toContain(`${series('steered')} 1\n`);
    expect(page).toContain(`${series('previewed')} 2\n`);
    expect(page).toContain('spotalis_admission_duration_seconds_count{result="previewed"} 2\n');
  });

  it('is among the failed if a step was left out, and counts what the others decided', async () => {
    const metrics = new Metrics();
    const report = new AdmissionReport({ metrics: admissionMetrics(metrics), logger: silent });
    report.answered('u', aResult({ leftOut: [{ step: 'sizes', error: new Error('broken') }] }), 1);
    const page = await text(metrics.page());
    expect(page).toContain('{result="failed",capacity_type="none",reason="error"} 1\n');
    expect(page).toContain('{result="steered",capacity_type="spot",reason="ledger"} 1\n');
  });
});

const linesOf = async (metrics: Metrics, name: string): Promise<readonly string[]> =>
  (await text(metrics.page())).split('\n').filter((line) => line.startsWith(`${name}{`));

describe('the ledger of a webhook', () => {
  it('tells how it is, and which of its calls fail', async () => {
    const metrics = new Metrics();
    const { mode, operation } = ledgerObserver(metrics);
    const modes = async (): Promise<readonly string[]> =>
      (await linesOf(metrics, 'spotalis_ledger_mode')).filter((line) => line.endsWith(' 1'));
    expect(await modes()).toEqual(['spotalis_ledger_mode{mode="connecting"} 1']);
    mode('degraded');
    expect(await modes()).toEqual(['spotalis_ledger_mode{mode="degraded"} 1']);
    operation({ operation: 'seen', durationMs: 2, outcome: 'ok' });
    operation({ operation: 'seen', durationMs: 200, outcome: 'LEDGER_TIMEOUT' });
    expect(await linesOf(metrics, 'spotalis_ledger_failures_total')).toEqual([
      'spotalis_ledger_failures_total{operation="seen",code="LEDGER_TIMEOUT"} 1',
    ]);
    expect(await text(metrics.page())).toContain(
      '\nspotalis_ledger_duration_seconds_count{operation="seen"} 2\n',
    );
  });
});
