import { describe, expect, it } from '@jest/globals';
import { type ObservedPod, readPolicy } from '@spotalis/core';
import type { DisruptionHooks } from '../../../kernel/disruption/register.ts';
import { aPod, silent } from '../../../testing/objects.ts';
import { Bypass } from '../webhook/bypass.ts';
import { SharedDefaults } from '../webhook/shared-defaults.ts';
import { type Move, Moves } from './moves.ts';

const move: Move = {
  workloadUid: 'web',
  pod: 'a',
  from: 'spot',
  to: 'on-demand',
  present: ['a-uid', 'b-uid'],
  trial: false,
  restsOnDefaults: false,
};

interface Came {
  readonly type?: 'spot' | 'on-demand' | 'unknown';
  readonly ready?: boolean;
  readonly override?: string;
}

const came = ({ type = 'on-demand', ready = true, override }: Came = {}): ObservedPod => ({
  ...aPod('c', { ready, ...(type === 'unknown' ? {} : { mark: { token: 'c', type } }) }),
  override: override ?? null,
});

function begun({ tookOverAtMs, ...change }: Partial<Move> & { tookOverAtMs?: number } = {}) {
  const clock = { nowMs: 1_000 };
  const ends: string[] = [];
  const bypass = new Bypass();
  const sharedDefaults = new SharedDefaults();
  const moves = new Moves({
    cluster: { nodeTypeOf: () => undefined },
    bypass,
    sharedDefaults,
    admissionOf: () =>
      readPolicy({ workload: { 'spotalis.io/spot-percentage': '50' }, namespace: {}, defaults: {} }),
    tookOverAtMs: () => tookOverAtMs,
    metrics: { moved: (from, to, result) => ends.push(`${from} ${to} ${result}`) },
    now: () => clock.nowMs,
    logger: silent,
  });
  const hooks = moves.hooksOf({ ...move, ...change }) as Required<DisruptionHooks>;
  const refused = hooks.began();
  return { moves, hooks, refused, ends, bypass, sharedDefaults, clock };
}

describe('a move under way', () => {
  it('succeeds when a pod that was not there before is Ready on the intended type', () => {
    const { hooks, moves, ends, clock } = begun();
    expect(hooks.judge([])).toBeUndefined();
    expect(hooks.judge([came({ ready: false })])).toBeUndefined();
    expect(hooks.judge([came()])).toBe('succeeded');
    clock.nowMs = 2_000;
    hooks.ended('succeeded', 1_000);
    expect(ends).toEqual(['spot on-demand succeeded']);
    expect(moves.of('web')).toBeUndefined();
    expect(moves.historyOf('web')).toMatchObject({ failures: 0, endedAtMs: 2_000 });
  });

  it.each(['failed', 'timeout'] as const)('that ended as %s has failed', (result) => {
    const { hooks, moves } = begun();
    hooks.ended(result, 1_000);
    expect(moves.historyOf('web')).toMatchObject({ failures: 1 });
  });

  it('has failed when the replacement came up on the type that it left', () => {
    expect(begun().hooks.judge([came({ type: 'spot', ready: false })])).toBe('failed');
  });

  it('notes what somebody changed of the replacement, although its annotations are corrected later', () => {
    const { hooks, moves } = begun();
    expect(hooks.judge([came({ ready: false, override: 'a field' })])).toBeUndefined();
    expect(hooks.judge([came({ type: 'spot' })])).toBe('failed');
    hooks.ended('failed', 1_000);
    expect(moves.historyOf('web')).toMatchObject({ failures: 1, override: 'a field' });
  });

  it('waits for a replacement of which nothing is known yet', () => {
    expect(begun().hooks.judge([came({ type: 'unknown', ready: false })])).toBeUndefined();
  });

  it('counts as unproven until its replacement came, which is told once', () => {
    const { hooks, moves, bypass } = begun();
    expect(moves.unproven(2_000)).toBe(1);
    for (let look = 0; look < 3; look++) hooks.judge([came({ type: 'unknown', ready: false })]);
    expect(moves.unproven(2_000)).toBe(0);
    expect(bypass.state).toBeUndefined();
    expect(bypass.allows(1)).toBe(true);
    expect(bypass.allows(2)).toBe(false);
  });

  it('whose replacement does not come at all says nothing about admission after a while', () => {
    const { moves } = begun();
    expect([30_999, 31_000].map((nowMs) => moves.unproven(nowMs))).toEqual([1, 0]);
  });

  it('that was refused, or lost, was none', () => {
    const one = begun();
    one.refused();
    expect([one.moves.of('web'), one.moves.unproven(2_000), one.moves.historyOf('web')]).toEqual([
      undefined,
      0,
      null,
    ]);
    const other = begun();
    other.hooks.ended('lost', 15_000);
    expect([other.moves.unproven(2_000), other.moves.historyOf('web'), other.ends]).toEqual([
      0,
      null,
      ['spot on-demand lost'],
    ]);
  });

  it('leaves the trial of defaults to others when it is refused', () => {
    const { hooks, refused, sharedDefaults } = begun({ restsOnDefaults: true });
    sharedDefaults.changed(1_000);
    const again = hooks.began();
    expect(hooks.mayBegin()).toBe(false);
    again();
    expect(hooks.mayBegin()).toBe(true);
    refused();
  });

  it('after another leader has a cooldown from the change on', () => {
    expect(begun({ tookOverAtMs: 500 }).moves.historyOf('another')).toMatchObject({
      endedAtMs: 500,
      failures: 0,
    });
    expect(begun().moves.historyOf('another')).toBeNull();
  });
});
