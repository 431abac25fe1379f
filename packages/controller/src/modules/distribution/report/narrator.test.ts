import { describe, expect, it } from '@jest/globals';
import type { RebalanceTrace, Standing } from '@spotalis/core';
import type { RecordedEvent } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import { aDeployment } from '../../../testing/objects.ts';
import { Narrator } from './narrator.ts';

const subject = 'Deployment/shop/web';
const workload = aDeployment();

const standing = (drift: number): Standing => ({
  numbers: { spotPercentage: 50, minOnDemand: 0 },
  replicas: 4,
  counts: { spot: 2 + drift, onDemand: 2 - drift },
  untyped: 0,
  onUnknownNodes: 0,
  target: 2,
  drift,
});

type Held = 'SingleReplica' | 'Balanced' | 'Paused' | 'RolloutPaused' | 'ReadOnly';

const held = (reason: Held, drift = 1): RebalanceTrace => ({
  verdict: { kind: 'nothing' },
  reason,
  facts: {},
  standing: standing(drift),
  drought: 'closed',
  waiting: {},
});

const closed: RebalanceTrace = {
  verdict: { kind: 'wait', untilMs: 90_000 },
  reason: 'WindowClosed',
  facts: { window: 'workload', opensAtMs: 90_000 },
  standing: standing(1),
  drought: 'closed',
  waiting: {},
};

const unavailable: RebalanceTrace = {
  verdict: { kind: 'nothing' },
  reason: 'NotAvailable',
  facts: { available: 1, needed: 2, missing: 0 },
  standing: standing(1),
  drought: 'closed',
  waiting: {},
};

function narratorOf() {
  const events: RecordedEvent[] = [];
  const blocked: string[] = [];
  const lines: string[] = [];
  const logger: Logger = {
    error: () => undefined,
    warn: () => undefined,
    info: (message) => lines.push(message),
    debug: () => undefined,
    child: () => logger,
  };
  const narrator = new Narrator({
    recorder: { record: (event) => events.push(event) },
    metrics: {
      blocked: (reason) => blocked.push(reason),
    },
    logger,
  });
  const tell = (trace: RebalanceTrace, nowMs: number) => narrator.tell(subject, workload, trace, nowMs);
  const driftSeconds = (nowMs: number) => [...narrator.conditions(nowMs)].map((one) => one.driftSeconds);
  const dueSeconds = (nowMs: number) => [...narrator.conditions(nowMs)].map((one) => one.dueSeconds);
  return { narrator, tell, events, blocked, lines, driftSeconds, dueSeconds };
}

describe('what people are told of a workload', () => {
  it('is one Event for a block that lasts, and none for each look', () => {
    const { tell, events, lines, blocked } = narratorOf();
    expect(tell(held('SingleReplica'), 0)).toBe(5_000);
    expect(tell(held('SingleReplica'), 4_000)).toBe(1_000);
    expect(events).toEqual([]);
    for (let nowMs = 5_000; nowMs < 100_000; nowMs += 5_000) tell(held('SingleReplica'), nowMs);
    expect(events).toMatchObject([
      {
        type: 'Warning',
        reason: 'MoveBlocked',
        note: expect.stringMatching(/^SingleReplica: .*allowSingleReplica/),
        regarding: { kind: 'Deployment', name: 'web', uid: 'web-uid' },
      },
    ]);
    expect(lines).toEqual(['move blocked']);
    expect(blocked).toEqual(['SingleReplica']);
  });

  it('is another Event for another reason, and the same again only after it was over', () => {
    const { tell, events } = narratorOf();
    const lasting = (trace: RebalanceTrace, fromMs: number) => {
      tell(trace, fromMs);
      tell(trace, fromMs + 5_000);
    };
    lasting(held('SingleReplica'), 0);
    lasting(unavailable, 10_000);
    lasting(held('Balanced', 0), 20_000);
    lasting(unavailable, 30_000);
    expect(events.map(({ note }) => note.split(':')[0])).toEqual([
      'SingleReplica',
      'NotAvailable',
      'NotAvailable',
    ]);
  });

  it.each([
    { reason: 'PlacementConflict', facts: { to: null }, drift: 0, afterMs: 5_000 },
    { reason: 'PlacementConflict', facts: { to: 'on-demand' }, drift: 1, afterMs: 5_000 },
    // An autoscaler is given the time to make a node.
    { reason: 'OnDemandShort', facts: { waiting: 2, scheduled: 1, floor: 3 }, drift: 0, afterMs: 60_000 },
    { reason: 'NoFallback', facts: { waiting: 7 }, drift: 0, afterMs: 5_000 },
    { reason: 'PodsUnscheduled', facts: { waits: { Volume: 1 } }, drift: 0, afterMs: 5_000 },
  ] as const)('is $reason by its own name, with a drift of $drift', ({ drift, afterMs, ...found }) => {
    const { tell, events, blocked } = narratorOf();
    const trace: RebalanceTrace = { ...held('Balanced', drift), ...found };
    expect(tell(trace, 0)).toBe(afterMs);
    expect(tell(trace, afterMs - 1)).toBe(1);
    expect(events).toEqual([]);
    tell(trace, afterMs);
    expect(events).toMatchObject([
      { type: 'Warning', reason: found.reason, note: expect.stringMatching(`^${found.reason}: `) },
    ]);
    expect(blocked).toEqual([found.reason]);
  });

  it('is nothing about what its owner asked for, nor of what passes by itself', () => {
    const { tell, events } = narratorOf();
    expect(tell(held('Paused'), 0)).toBeUndefined();
    tell(held('Paused'), 100_000);
    expect(events).toEqual([]);
  });

  it('does not repeat a block that something passing interrupted', () => {
    const { tell, events } = narratorOf();
    tell(held('SingleReplica'), 0);
    tell(held('SingleReplica'), 5_000);
    tell(held('Paused'), 6_000);
    tell(held('SingleReplica'), 7_000);
    tell(held('SingleReplica'), 20_000);
    expect(events).toHaveLength(1);
  });

  it('is that a window has opened for what waited for it', () => {
    const { tell, events } = narratorOf();
    tell(closed, 0);
    tell(held('SingleReplica'), 90_000);
    tell(held('SingleReplica'), 91_000);
    expect(events).toMatchObject([{ type: 'Normal', reason: 'WindowOpened' }]);
  });

  it('is the drift that was decided by, and none without a policy', () => {
    const { narrator, tell } = narratorOf();
    const drifts = () => [...narrator.conditions(0)].map(({ drift }) => drift);
    tell(held('Paused', -2), 0);
    expect(drifts()).toEqual([-2]);
    tell({ ...held('Balanced'), standing: null }, 0);
    expect(drifts()).toEqual([null]);
  });

  it('is for how long there has been drift, also between two looks', () => {
    const { narrator, tell, driftSeconds } = narratorOf();
    tell(held('Paused'), 10_000);
    expect(driftSeconds(10_000)).toEqual([0]);
    tell(held('Paused'), 12_000);
    expect(driftSeconds(15_000)).toEqual([5]);
    tell(held('Balanced', 0), 16_000);
    expect(driftSeconds(17_000)).toEqual([0]);
    tell(held('Paused'), 20_000);
    expect(driftSeconds(20_000)).toEqual([0]);
    expect([...narrator.drifting()]).toMatchObject([{ subject, seeks: ['on-demand'] }]);
    narrator.forget(subject);
    expect(driftSeconds(21_000)).toEqual([]);
    expect([...narrator.drifting()]).toEqual([]);
  });

  it('is of the types that nodes are sought of: of both in a drought, and while pods wait', () => {
    const { narrator, tell } = narratorOf();
    const sought = () => [...narrator.drifting()].map(({ seeks }) => seeks);
    tell(held('Paused', -2), 0);
    expect(sought()).toEqual([['spot']]);
    tell({ ...held('Paused', -2), drought: 'open' }, 0);
    expect(sought()).toEqual([['spot', 'on-demand']]);
    tell({ ...held('Paused', 2), waiting: { SpotCapacity: 1 } }, 0);
    expect(sought()).toEqual([['spot', 'on-demand']]);
    tell(held('Balanced', 0), 0);
    expect(sought()).toEqual([]);
  });

  it('is for how long a repair has been due, but not while somebody wants it to wait', () => {
    const { tell, dueSeconds } = narratorOf();
    tell(closed, 0);
    expect(dueSeconds(10_000)).toEqual([0]);
    tell(held('SingleReplica'), 20_000);
    expect(dueSeconds(25_000)).toEqual([5]);
    for (const [index, reason] of (['ReadOnly', 'Paused', 'RolloutPaused'] as const).entries()) {
      tell(held(reason), 26_000 + index * 10_000);
    }
    expect(dueSeconds(70_000)).toEqual([6]);
    tell(held('SingleReplica'), 80_000);
    expect(dueSeconds(81_000)).toEqual([7]);
    tell(held('Balanced', 0), 90_000);
    tell(held('SingleReplica'), 95_000);
    expect(dueSeconds(96_000)).toEqual([1]);
  });

  it('is no due repair while spot capacity is short, in a drought of its own or of its placement', () => {
    const { tell, dueSeconds } = narratorOf();
    const dry: RebalanceTrace = {
      verdict: { kind: 'nothing' },
      reason: 'InDrought',
      facts: { sinceMs: null, nextProbeAtMs: null },
      standing: standing(-1),
      drought: 'closed',
      waiting: {},
    };
    tell(dry, 0);
    tell({ ...unavailable, standing: standing(-1), drought: 'open' }, 10_000);
    tell({ ...unavailable, standing: standing(-1), drought: 'half-open' }, 20_000);
    expect(dueSeconds(30_000)).toEqual([0]);
    // Too many on spot can be mended in any drought, and after it anything.
    tell({ ...unavailable, drought: 'open' }, 30_000);
    expect(dueSeconds(35_000)).toEqual([5]);
    tell({ ...unavailable, standing: standing(-1), drought: null }, 40_000);
    expect(dueSeconds(45_000)).toEqual([15]);
  });

  it('is, to whoever asks, the present reason, since when and until when', () => {
    const { narrator, tell } = narratorOf();
    tell(closed, 0);
    tell(closed, 30_000);
    expect(narrator.shown(subject)).toMatchObject({
      verdict: 'wait',
      reason: 'WindowClosed',
      text: expect.stringContaining("workload's window"),
      since: '1970-01-01T00:00:00.000Z',
      until: '1970-01-01T00:01:30.000Z',
    });
  });
});
