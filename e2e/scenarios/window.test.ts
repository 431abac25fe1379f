import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { policyKeys } from '@spotalis/core';
import { eventsOn, verdictOn } from '../testbed/moves.ts';
import {
  annotate,
  expectWrites,
  eachOfTenOnce,
  rebalance,
  settled,
  spotPercentage,
  ten,
} from '../testbed/repair.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import type { Workload } from '../workloads/workload.ts';
import { Floors } from './floors.ts';
import { preloaded } from './preload.ts';

/** Twenty minutes after Berlin went from two to three o'clock; on the Cape Verde Islands it is 00:20. */
const springMs = Date.parse('2027-03-28T01:20:00Z');
const minuteMs = 60_000;
/** Long enough to see that a window is still closed. */
const aheadMs = 15_000;

/** A process with this lives so much later than we do. */
const later = (byMs: number): string => `const Now = Date;
globalThis.Date = class extends Now {
  constructor(...parts) {
    super(...(parts.length === 0 ? [Now.now() + ${byMs}] : parts));
  }
  static now() {
    return Now.now() + ${byMs};
  }
};`;

describe('windows on the night when the clocks change', () => {
  let testbed: Testbed;
  let floors: Floors;
  let shiftMs: number;

  beforeAll(async () => {
    shiftMs = springMs - Date.now();
    testbed = await openTestbed({
      patient: true,
      env: { controller: preloaded(later(shiftMs)) },
      configuration: { rebalance },
    });
    floors = await Floors.follow(testbed.cluster);
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  async function standing(namespace: string): Promise<Workload> {
    const workload = await testbed.declare(ten(namespace, 70));
    await workload.ready(10);
    return workload;
  }

  function drift(workload: Workload, schedule: string, duration: string): Promise<void> {
    const window = { [policyKeys.disruptionSchedule]: schedule, [policyKeys.disruptionDuration]: duration };
    return workload.patch(annotate({ ...window, ...spotPercentage(80).metadata.annotations }));
  }

  async function drifting(namespace: string, schedule: string, duration: string): Promise<Workload> {
    const workload = await standing(namespace);
    await drift(workload, schedule, duration);
    return workload;
  }

  it('last as long as they say over the missing hour, and over midnight', async () => {
    const [through, midnight, over] = await Promise.all([
      // From 00:30 to 02:00 in UTC: until four o'clock, though three would be half past one and one and a half hours.
      drifting('through', 'CRON_TZ=Europe/Berlin 30 1 * * *', '1h30m'),
      drifting('midnight', 'CRON_TZ=Atlantic/Cape_Verde 0 23 * * *', '2h'),
      drifting('over', 'CRON_TZ=Atlantic/Cape_Verde 0 23 * * *', '1h'),
    ]);
    await settled(through, { spot: 8, onDemand: 2 });
    await settled(midnight, { spot: 8, onDemand: 2 });
    await verdictOn(testbed, over, 'WindowClosed');
    await expectWrites(testbed, [
      { namespace: 'through', evictions: 1, patches: eachOfTenOnce },
      { namespace: 'midnight', evictions: 1, patches: eachOfTenOnce },
      { namespace: 'over', evictions: 0, patches: 0 },
    ]);
  }, 120_000);

  it('open by the new time', async () => {
    const workload = await standing('opening');
    const nowMs = Date.now() + shiftMs;
    const opensAtMs = Math.ceil((nowMs + aheadMs) / minuteMs) * minuteMs;
    const minute = new Date(opensAtMs).getUTCMinutes();
    await drift(workload, `CRON_TZ=Europe/Berlin ${minute} 3 * * *`, '30m');
    await verdictOn(testbed, workload, 'WindowClosed');
    expect(testbed.evictions('opening')).toBe(0);
    await settled(workload, { spot: 8, onDemand: 2 });
    expect(await eventsOn(testbed, workload, 'WindowOpened')).toHaveLength(1);
    const evictedAtMs = testbed.cluster.auditLog
      .read(({ objectRef }) => objectRef?.subresource === 'eviction' && objectRef.namespace === 'opening')
      .map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp) + shiftMs);
    expect(evictedAtMs).toHaveLength(1);
    expect(evictedAtMs[0]).toBeGreaterThanOrEqual(opensAtMs);
  }, 180_000);

  it('every workload keeps its floor at each eviction', async () => {
    expect(await floors.breaches()).toEqual([]);
  });
});
