import { describe, expect, it } from '@jest/globals';
import { NOON } from '../../testing/rebalance.ts';
import { deferred, evictionFor } from './request.ts';
import { type Move, type RebalanceTrace } from './verdict.ts';

const pod = { name: 'web-1', uid: 'web-1-uid', resourceVersion: '7' };
const move: Move = {
  pod,
  from: 'spot',
  to: 'on-demand',
  node: 'n1',
  evidence: 'n2',
  pdb: null,
  trial: false,
};
const asker = {
  subject: 'distribution/Deployment/shop/web',
  disrupts: { uid: 'web-uid', namespace: 'shop' },
  nowMs: NOON,
};
const facts = {
  pod: 'web-1',
  from: 'spot',
  to: 'on-demand',
  node: 'n1',
  evidence: 'n2',
  doom: null,
  ready: true,
} as const;
const trace: RebalanceTrace = {
  verdict: { kind: 'move', move },
  reason: 'SpotSurplus',
  facts,
  standing: null,
  drought: 'open',
  waiting: {},
};

describe('what a move asks for', () => {
  it('goes before other moves where a floor is short', () => {
    const asked = (['FloorShort', 'SpotSurplus', 'OnDemandSurplus'] as const).map((reason) =>
      evictionFor(asker, reason, move),
    );
    expect(asked.map(({ rank }) => rank)).toEqual([1, 3, 3]);
    expect(asked[0]).toMatchObject({ subject: 'distribution/Deployment/shop/web', pod, node: 'n1' });
  });

  it('shows what it waits for where it is deferred, and until when', () => {
    expect(deferred(trace, { reason: 'WorkloadBusy', by: 'recycling', sinceMs: 5 }, NOON)).toEqual({
      ...trace,
      verdict: { kind: 'wait', untilMs: NOON + 30_000 },
      reason: 'WorkloadBusy',
      facts: { by: 'recycling', sinceMs: 5 },
    });
    const spent = { reason: 'BudgetSpent', budget: 'minute', used: 60, limit: 60 } as const;
    expect(deferred(trace, { ...spent, untilMs: NOON + 7 }, NOON)).toMatchObject({
      verdict: { kind: 'wait', untilMs: NOON + 7 },
      reason: 'BudgetSpent',
      facts: { budget: 'minute', used: 60, limit: 60 },
      drought: 'open',
    });
    expect(deferred(trace, { ...spent, untilMs: null }, NOON).verdict).toEqual({
      kind: 'wait',
      untilMs: NOON + 30_000,
    });
  });
});
