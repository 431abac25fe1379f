import { describe, expect, it } from '@jest/globals';
import { NOON, podsOf, surveyOf } from '../testing/scene.ts';
import { footprintOf, toldOf } from './events.ts';

const usual = { spotPercentage: 70, minOnDemand: 2 };
const moved = (agoMs: number) => [{ atMs: NOON - agoMs, reason: 'Moved', note: '' }];
const replacement = (ready: boolean) => ({
  name: 'web-new',
  type: 'on-demand' as const,
  rank: 2,
  numbers: usual,
  createdAt: new Date(NOON - 20_000).toISOString(),
  ready,
});

async function footprint(told: Parameters<typeof footprintOf>[0], ready = true) {
  const survey = await surveyOf({ pods: [...podsOf(7, 2, usual), replacement(ready)], replicas: 11 });
  return footprintOf(told, survey, survey.workloads[0]!, NOON);
}

describe('what Events and pods tell of moves', () => {
  it('is a move in flight until a pod that came after it is Ready', async () => {
    expect(await footprint(moved(10_000))).toEqual({ history: null, inFlight: true });
    expect(await footprint(moved(20_000), false)).toEqual({ history: null, inFlight: true });
  });

  it('is a cooldown from then on', async () => {
    expect(await footprint(moved(20_000))).toMatchObject({
      history: { endedAtMs: NOON - 20_000, failures: 0 },
      inFlight: false,
    });
  });

  it('is a cooldown from the move on where the workload became smaller meanwhile', async () => {
    const survey = await surveyOf({ pods: podsOf(6, 3, usual), replicas: 9 });
    expect(footprintOf(moved(120_000), survey, survey.workloads[0]!, NOON)).toMatchObject({
      history: { endedAtMs: NOON - 120_000, failures: 0 },
      inFlight: false,
    });
  });

  it('is that the leader moves no more, as long as no later move tells otherwise', async () => {
    const note =
      'PlacementOverridden: No more moves: 3 replacements in a row were admitted to on-demand and changed afterwards: spec.nodeSelector["a"] is "b". Another admission webhook';
    const stopped = { atMs: NOON - 7_200_000, reason: 'PlacementOverridden', note };
    const history = { from: 'spot', to: 'on-demand', endedAtMs: NOON - 7_200_000, failures: 3 };
    expect(await footprint([stopped, ...moved(7_300_000)])).toEqual({
      history: { ...history, override: 'spec.nodeSelector["a"] is "b"' },
      inFlight: false,
    });
    expect(await footprint([...moved(11 * 60_000), stopped])).toEqual({ history: null, inFlight: false });
  });

  it('is nothing without a move, or long after one', async () => {
    for (const told of [[], moved(11 * 60_000)]) {
      expect(await footprint(told)).toEqual({ history: null, inFlight: false });
    }
  });

  it('comes from our Events only, the latest first', async () => {
    const event = (reason: string, second: number, reportingComponent: string) => ({
      reason,
      message: reason,
      reportingComponent,
      eventTime: `2026-04-15T12:00:0${second}.000000Z`,
    });
    const items = [
      event('Moved', 1, 'spotalis.io/controller'),
      event('ScalingReplicaSet', 3, 'deployment-controller'),
      event('MoveBlocked', 2, 'spotalis.io/controller'),
    ];
    const client = { list: () => Promise.resolve({ items }) } as never;
    const { workloads } = await surveyOf({ pods: podsOf(1, 1, usual) });
    expect((await toldOf(client, workloads[0]!)).map(({ reason }) => reason)).toEqual([
      'MoveBlocked',
      'Moved',
    ]);
  });
});
