import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { rebalance } from '../testbed/repair.ts';
import { openStage, type Stage } from '../testbed/stage.ts';
import { expectExactBurst, expectSteeredInTime, Residues } from '../testbed/burst.ts';

/** B8. */
const lossBound = 1;
/** B7. */
const outageBound = 4;
/** B7 until there is a new primary, and then B8. */
const outageAndLossBound = outageBound + lossBound;
const policy = { spotPercentage: 70, minOnDemand: 0 };
/** Enough to last through a failover, and no more: of a larger burst a slow machine is late by itself. */
const replicas = 300;

describe('a burst while Redis fails over', () => {
  let stage: Stage;
  let residues: Residues;

  beforeAll(async () => {
    stage = await openStage({
      delayAnswersMs: 200,
      redis: { mode: 'sentinel' },
      configuration: { rebalance },
    });
    residues = new Residues(stage);
  }, 120_000);

  afterAll(async () => {
    await stage?.close();
  });

  afterEach(async () => {
    await stage.ledgerReady();
    await expectExactBurst(stage);
  });

  it('as planned is off by one at most (B8)', async () => {
    const [sentinel] = stage.redis.sentinels;
    const before = await stage.redis.primary();
    const aloneBefore = await stage.decidedAlone();
    const burst = { name: 'web', namespace: 'planned', replicas, policy };
    const workload = await residues.burstWith(burst, {
      after: 100,
      strike: () => sentinel?.command('SENTINEL', 'FAILOVER', stage.redis.masterName),
    });
    const split = await workload.splitWhenCreated(replicas);
    const late = await expectSteeredInTime(stage, burst);
    const off = Math.abs(residues.note(workload, split, late));
    // Where a slow machine fails over for longer than webhooks wait, some pods are decided alone (B7).
    const alone = (await stage.decidedAlone()) - aloneBefore;
    expect(off).toBeLessThanOrEqual(lossBound + Math.min(alone, outageBound) + late);
    await waitFor('another primary', async () => (await stage.redis.primary()) !== before);
  }, 90_000);

  it('because its primary died is off by five at most (B7, then B8)', async () => {
    await stage.redis.replicated();
    const before = await stage.decidedAlone();
    let next: Promise<number> | undefined;
    const burst = { name: 'web', namespace: 'crashed', replicas, policy };
    const workload = await residues.burstWith(burst, {
      after: 100,
      strike: () => {
        next = stage.redis.failOver();
      },
    });
    const split = await workload.splitWhenCreated(replicas);
    const late = await expectSteeredInTime(stage, burst);
    expect(await stage.decidedAlone()).toBeGreaterThan(before + 30);
    const off = Math.abs(residues.note(workload, split, late));
    expect(off).toBeLessThanOrEqual(outageAndLossBound + late);
    await next;
  }, 90_000);

  it('is repaired by as many evictions as it is off, and by none before (B6)', async () => {
    await residues.expectRepaired();
  }, 300_000);
});
