import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openStage, type Stage } from '../scenarios/stage.ts';
import type { Declaration, Workload } from '../scenarios/workload.ts';
import {
  burstWith,
  driftOf,
  expectExactBurst,
  expectNoEvictionInTime,
  expectSteeredInTime,
} from './burst.ts';

/** B7: with m = 0, up to 10 webhooks and bursts of 450. */
const outageBound = 4;
/** B8. */
const lossBound = 1;
const freezeMs = 3_000;

/** LISTs that a decision of the ledger asked for: not those of a webhook that looks for itself in an outage. */
async function listsForLedger({ installation }: Stage): Promise<number> {
  const ask = (labels: Readonly<Record<string, string>>): Promise<number> =>
    installation.admissionMetric('spotalis_webhook_reads_total', { kind: 'list', ...labels });
  return (await ask({})) - (await ask({ reason: 'ledger-unavailable' }));
}

describe('a burst while Redis', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage({ delayAnswersMs: 200 });
  }, 120_000);

  afterAll(async () => {
    await stage?.close();
  });

  afterEach(async () => {
    if (stage.redis.node(0).pid === undefined) await stage.redis.restart();
    await stage.ledgerReady();
    await expectExactBurst(stage);
  });

  /** Once it has grown to 500. */
  async function expectExactBut(workload: Workload, burst: Declaration): Promise<void> {
    const split = await workload.splitWhenCreated(500);
    expect(Math.abs(driftOf(workload, split))).toBeLessThanOrEqual(expectSteeredInTime(stage, burst));
  }

  const noFloor = { spotPercentage: 70, minOnDemand: 0 };
  const floor = { spotPercentage: 33, minOnDemand: 7 };

  it('loses its scripts is exact (B1)', async () => {
    const burst = { name: 'web', namespace: 'scripts', replicas: 300, policy: noFloor };
    const workload = await burstWith(stage, burst, {
      after: 80,
      strike: () => stage.redis.node(0).command('SCRIPT', 'FLUSH'),
    });
    const split = await workload.splitWhenCreated(300);
    expect(Math.abs(driftOf(workload, split))).toBeLessThanOrEqual(expectSteeredInTime(stage, burst));
    expect(stage.evictions('scripts')).toBe(0);
  }, 60_000);

  it('answers too late again and again: it is told what was decided alone, and needs no LIST', async () => {
    const namespace = 'hesitant';
    const before = await stage.decidedAlone();
    let listsBefore = Number.NaN;
    const hesitate = async (): Promise<void> => {
      listsBefore = await listsForLedger(stage);
      for (const pauseMs of [500, 400, 300]) {
        stage.redis.freeze();
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        stage.redis.thaw();
        await stage.ledgerReady();
      }
    };
    const burst = { name: 'web', namespace, replicas: 450, policy: { ...noFloor, minOnDemand: 3 } };
    const workload = await burstWith(stage, burst, { after: 90, strike: hesitate });
    const split = await workload.splitWhenCreated(450);
    const late = expectSteeredInTime(stage, burst);
    const alone = (await stage.decidedAlone()) - before;
    expect(alone).toBeGreaterThan(10);
    const off = driftOf(workload, split);
    process.stdout.write(`${alone} decided alone, ${off} off\n`);
    expect(Math.abs(off)).toBeLessThanOrEqual(outageBound + late);
    // Nobody was there to be asked but the ledger: it knows all that was decided without it.
    await workload.scale(500);
    await expectExactBut(workload, burst);
    expect(await listsForLedger(stage)).toBe(listsBefore);
  }, 60_000);

  it.each([
    { namespace: 'flushed', replicas: 450, policy: noFloor },
    { namespace: 'flushed-floor', replicas: 500, policy: floor },
  ])(
    'is flushed is off by one at most: $replicas at $policy (B8)',
    async ({ namespace, replicas, policy }) => {
      const burst = { name: 'web', namespace, replicas, policy };
      const workload = await burstWith(stage, burst, {
        after: 120,
        strike: () => stage.redis.node(0).command('FLUSHALL'),
      });
      const split = await workload.splitWhenCreated(replicas);
      const late = expectSteeredInTime(stage, burst);
      expect(Math.abs(driftOf(workload, split))).toBeLessThanOrEqual(lossBound + late);
      expect(split.onDemand + late).toBeGreaterThanOrEqual(policy.minOnDemand);
    },
    60_000,
  );

  it('is killed and stays away is off by four at most, and makes up for it later (B7)', async () => {
    const before = await stage.decidedAlone();
    const burst = { name: 'web', namespace: 'killed', replicas: 450, policy: noFloor };
    const workload = await burstWith(stage, burst, { after: 120, strike: () => stage.redis.kill() });
    const split = await workload.splitWhenCreated(450);
    const late = expectSteeredInTime(stage, burst);
    expect(await stage.decidedAlone()).toBeGreaterThan(before + 100);
    expect(Math.abs(driftOf(workload, split))).toBeLessThanOrEqual(outageBound + late);
    await stage.redis.restart();
    await stage.ledgerReady();
    await workload.scale(500);
    await expectExactBut(workload, burst);
  }, 60_000);

  it('is killed keeps the floor, and is short of spot at most (B7)', async () => {
    const burst = {
      name: 'web',
      namespace: 'killed-floor',
      replicas: 300,
      policy: { ...noFloor, minOnDemand: 150 },
    };
    const workload = await burstWith(stage, burst, { after: 60, strike: () => stage.redis.kill() });
    const split = await workload.splitWhenCreated(300);
    const late = expectSteeredInTime(stage, burst);
    expect(split.onDemand + late).toBeGreaterThanOrEqual(150);
    expect(driftOf(workload, split)).toBeLessThanOrEqual(outageBound + late);
  }, 60_000);

  it('is killed and comes back empty is off by five at most (B7, then B8)', async () => {
    const burst = { name: 'web', namespace: 'emptied', replicas: 500, policy: floor };
    const workload = await burstWith(stage, burst, { after: 120, strike: () => stage.redis.restart() });
    const split = await workload.splitWhenCreated(500);
    const late = expectSteeredInTime(stage, burst);
    expect(Math.abs(driftOf(workload, split))).toBeLessThanOrEqual(outageBound + lossBound + late);
    expect(split.onDemand + late).toBeGreaterThanOrEqual(floor.minOnDemand);
  }, 60_000);

  it('hangs for three seconds is off by four at most, and no admission waits for it (B7)', async () => {
    const burst = { name: 'web', namespace: 'frozen', replicas: 450, policy: noFloor };
    const before = await stage.decidedAlone();
    let thawed: Promise<void> | undefined;
    const workload = await burstWith(stage, burst, {
      after: 120,
      strike: () => {
        stage.redis.freeze();
        thawed = new Promise((resolve) => {
          setTimeout(() => {
            stage.redis.thaw();
            resolve();
          }, freezeMs);
        });
      },
    });
    const split = await workload.splitWhenCreated(450);
    const late = expectSteeredInTime(stage, burst);
    await thawed;
    expect(await stage.decidedAlone()).toBeGreaterThan(before + 30);
    expect(Math.abs(driftOf(workload, split))).toBeLessThanOrEqual(outageBound + late);
  }, 60_000);

  it('takes no eviction but of pods that came too late', () => {
    expectNoEvictionInTime(stage);
  });
});
