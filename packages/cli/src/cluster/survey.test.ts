import { describe, expect, it } from '@jest/globals';
import { decide } from '@spotalis/core';
import { ask, NOON, podsOf, type Scene, surveyOf } from '../testing/scene.ts';

const ten = podsOf(7, 3, { spotPercentage: 70, minOnDemand: 2 });
const holding = { name: 'held', type: 'on-demand', node: 'od-2', placeholder: true } as const;

/** What is decided where the floor is one higher than there are pods on on-demand. */
async function decided(scope: object, probe: string, more: Scene['pods'] = []) {
  const survey = await surveyOf({
    pods: [...ten, ...more],
    annotations: ask(70, 4),
    configuration: { scope, fallback: { probe } },
  });
  return decide(survey.snapshotOf(survey.workloads[0]!), NOON);
}

describe('the room on nodes whose pods are seen in part', () => {
  const scope = { namespaces: ['shop'] };

  it('does not count where the controller asks a placeholder for it', async () => {
    expect(await decided(scope, 'placeholder')).toMatchObject({
      reason: 'NoCapacity',
    });
  });

  it('is what a running placeholder holds', async () => {
    expect(await decided(scope, 'placeholder', [holding])).toMatchObject({
      verdict: { kind: 'move', move: { evidence: 'od-2' } },
    });
  });

  it.each([
    ['no placeholder can show it', scope, 'none'],
    ['all namespaces are read', {}, 'placeholder'],
  ])('counts where %s', async (_why, scoped, probe) => {
    expect(await decided(scoped, probe)).toMatchObject({ verdict: { kind: 'move' } });
  });
});

describe('the defaults that webhooks admit by', () => {
  const floorByDefault = {
    annotations: { 'spotalis.io/spot-percentage': '70' },
    configuration: { defaults: { minOnDemand: 4 } },
  };
  const minutes = (count: number) => new Date(NOON - count * 60_000).toISOString();
  const admitted = (floor: number, createdAt: string) =>
    podsOf(1, 0, { spotPercentage: 70, minOnDemand: floor }).map((pod) => ({
      ...pod,
      name: `new-${floor}`,
      rank: 7,
      createdAt,
    }));

  it.each([
    ['hold moves where the newest pod was admitted by others', 'DefaultsDiffer', minutes(9), [2]],
    ['hold none where the newest pod was admitted by the same', 'FloorShort', minutes(9), [2, 4]],
    ['hold none where no pod was admitted since they changed', 'FloorShort', minutes(1), [2]],
  ])('%s', async (_what, reason, configuredAt, floors) => {
    const pods = floors.flatMap((floor, index) => admitted(floor, minutes(5 - index)));
    const survey = await surveyOf({ ...floorByDefault, configuredAt, pods: [...ten, ...pods] });
    expect(decide(survey.snapshotOf(survey.workloads[0]!), NOON)).toMatchObject({ reason });
  });

  it('are of no matter to a workload whose annotations set both numbers', async () => {
    const pods = [...ten, ...admitted(2, minutes(5))];
    const survey = await surveyOf({
      ...floorByDefault,
      annotations: ask(70, 4),
      configuredAt: minutes(9),
      pods,
    });
    expect(decide(survey.snapshotOf(survey.workloads[0]!), NOON)).toMatchObject({ reason: 'FloorShort' });
  });
});
