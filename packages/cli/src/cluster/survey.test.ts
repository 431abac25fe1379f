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
