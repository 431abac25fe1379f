import { describe, expect, it } from '@jest/globals';
import { formatPolicyMark, type PolicyNumbers, readPolicy, targetSpot } from '@spotalis/core';
import * as fc from 'fast-check';
import { aPod } from '../../../testing/objects.ts';
import { stage } from '../../../testing/rebalancing.ts';

const before: PolicyNumbers = { spotPercentage: 100, minOnDemand: 0 };
const after: PolicyNumbers = { spotPercentage: 50, minOnDemand: 0 };
const budgets = { maxInFlight: { cluster: 20, namespace: 20, node: 20, workload: 1 } };
const STEP_MS = 5_000;
const STEPS_A_MINUTE = 60_000 / STEP_MS;

interface Fleet {
  readonly workloads: number;
  /** How many webhooks there are, and which one admits the next replacement, in turn. */
  readonly webhooks: number;
  readonly turns: readonly number[];
  /** Whether the leader sees its own file change; it may also have begun with the new one. */
  readonly isReload: boolean;
  readonly areSideBySide: boolean;
  /** What holds where an annotation says so, and not `defaults`. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A leader that has the new defaults, and webhooks that have the old ones; null: those have none at all. */
function fleet(
  { workloads, webhooks, turns, isReload, areSideBySide, annotations = {} }: Fleet,
  old: PolicyNumbers | null,
) {
  const names = Array.from({ length: workloads }, (_, index) => `w${index}`);
  const { cluster, clock, look, asked, script, sharedDefaults, bypass } = stage(budgets, names);
  script.policy = readPolicy({
    workload: annotations,
    namespace: {},
    defaults: { spotPercentage: after.spotPercentage },
  });
  const known: (PolicyNumbers | null)[] = Array.from({ length: webhooks }, () => old);
  if (isReload) sharedDefaults.changed(clock.nowMs);
  let admitted = 0;
  let inVain = 0;
  const admit = (gone: string): void => {
    const name = gone.split('-')[0]!;
    const others = cluster.podsOf(cluster.deployments.get(`shop/${name}`)!);
    const numbers = known[turns[admitted % turns.length]! % webhooks]!;
    const pod = `${name}-${++admitted}`;
    if (numbers !== after) inVain++;
    const spot = others.filter(({ nodeName }) => nodeName === 'spot-1').length;
    const type = numbers === null || spot < targetSpot(numbers, 4) ? 'spot' : 'on-demand';
    const mark = numbers && { token: pod, type, rank: 0, policy: formatPolicyMark(numbers) };
    cluster.pods.upsert(
      aPod(pod, {
        owner: `${name}-1`,
        node: type === 'spot' ? 'spot-1' : 'od-1',
        ready: true,
        createdAt: new Date(clock.nowMs).toISOString(),
        ...(mark && { mark }),
      }),
      false,
    );
  };
  return {
    asked,
    known,
    bypass,
    inVain: () => inVain,
    isDone: () =>
      names.every((name) => {
        const pods = cluster.podsOf(cluster.deployments.get(`shop/${name}`)!);
        return pods.filter(({ nodeName }) => nodeName === 'od-1').length === 2;
      }),
    pass: async (steps: number) => {
      for (let step = 0; step < steps; step++) {
        clock.nowMs += STEP_MS;
        const already = asked.length;
        if (areSideBySide) await Promise.all(names.map((name) => look(0, name)));
        else for (const name of names) await look(0, name);
        const gone = asked.slice(already);
        for (const pod of gone) cluster.pods.remove(`shop/${pod}`);
        for (const pod of gone) admit(pod);
      }
    },
  };
}

const anyFleet = fc.record({
  workloads: fc.integer({ min: 4, max: 12 }),
  webhooks: fc.integer({ min: 1, max: 3 }),
  turns: fc.array(fc.nat(2), { minLength: 1, maxLength: 20 }),
  isReload: fc.boolean(),
  areSideBySide: fc.boolean(),
});
const runs = { numRuns: 20 };

describe('a leader that has other defaults than the webhooks', () => {
  it('evicts no more than three pods in the first minute, one after a reload, and then one in ever longer times', async () => {
    await fc.assert(
      fc.asyncProperty(anyFleet, fc.constantFrom(before, null), async (one, old) => {
        const { asked, pass } = fleet(one, old);
        const first = one.isReload ? 1 : 3;
        await pass(STEPS_A_MINUTE);
        expect(asked.length).toBeLessThanOrEqual(first);
        expect(asked.length).toBeGreaterThan(0);
        // Trials after 1, 2, 4 and 8 minutes, and then every 10.
        await pass(14 * STEPS_A_MINUTE);
        expect(asked.length).toBeLessThanOrEqual(first + 4);
        expect(asked.length).toBeGreaterThan(first);
      }),
      runs,
    );
  });

  it('goes on when they have read the new ones, whichever reads them first', async () => {
    await fc.assert(
      fc.asyncProperty(anyFleet, async (one) => {
        const { inVain, known, pass, isDone } = fleet(one, before);
        for (const index of known.keys()) {
          await pass(STEPS_A_MINUTE / 2);
          known[index] = after;
        }
        await pass(12 * STEPS_A_MINUTE);
        expect(isDone()).toBe(true);
        // For a minute and a half some have read them and others not. At most three moves are under way without a
        // replacement, and half a minute or more lies between one time that an old webhook is met and the next.
        expect(inVain()).toBeLessThanOrEqual(3 * 3);
      }),
      runs,
    );
  });

  it('moves what annotations ask for as ever, and takes no webhook for passed by', async () => {
    const annotations = { 'spotalis.io/spot-percentage': '50', 'spotalis.io/min-on-demand': '0' };
    const both = { workloads: 8, webhooks: 1, turns: [0], isReload: true, areSideBySide: false };
    const annotated = fleet({ ...both, annotations }, after);
    await annotated.pass(STEPS_A_MINUTE);
    expect(annotated.isDone()).toBe(true);

    const without = fleet({ ...both, isReload: false }, null);
    await without.pass(STEPS_A_MINUTE);
    expect(without.asked).toHaveLength(3);
    expect(without.bypass.state).toBeUndefined();
  });
});
