import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { Metrics } from '@spotalis/runtime';
import { aSteered } from '../testing/outcome.ts';
import { admissionMetrics } from './metrics.ts';

describe('an admission that is counted', () => {
  it('is not among the steered if nothing of it is kept', async () => {
    const metrics = new Metrics();
    const counted = admissionMetrics(metrics);
    counted.admitted(aSteered(), 1);
    counted.admitted(aSteered({ dryRun: true }), 1);
    counted.admitted(aSteered({ readOnly: true }), 1);
    const page = await text(metrics.page());
    const series = (result: string): string =>
      `spotalis_admissions_total{result="${result}",capacity_type="spot",reason="ledger"}`;
    expect(page).toContain(`${series('steered')} 1\n`);
    expect(page).toContain(`${series('previewed')} 2\n`);
    expect(page).toContain('spotalis_admission_duration_seconds_count{result="previewed"} 2\n');
  });
});
