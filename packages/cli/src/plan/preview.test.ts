import { describe, expect, it } from '@jest/globals';
import { plain } from '@spotalis/units';
import { ask, drought, NOON, pdb, podsOf, type Scene, surveyOf } from '../testing/scene.ts';
import { type Change, previewOf, previewText } from './preview.ts';

const seventyTwo = { spotPercentage: 70, minOnDemand: 2 };
const pods = podsOf(7, 3, seventyTwo);
const nothing: Change = { spotPercentage: undefined, minOnDemand: undefined, replicas: undefined };
const out = { style: plain, width: undefined, write: () => undefined, note: () => undefined };

const previews: readonly (readonly [what: string, scene: Partial<Scene>, change: Partial<Change>])[] = [
  ['no change', {}, {}],
  ['a higher floor', {}, { minOnDemand: 5 }],
  ['fewer replicas', {}, { replicas: 6 }],
  ['more replicas and a higher share', {}, { replicas: 20, spotPercentage: 90 }],
  ['a change that a PodDisruptionBudget stops', { pdbs: [pdb('web', 10, 10)] }, { minOnDemand: 5 }],
  [
    'a change for which no spot node is there',
    { noSpot: true, annotations: ask(0, 0), pods: podsOf(0, 10, { spotPercentage: 0, minOnDemand: 0 }) },
    { spotPercentage: 50 },
  ],
  [
    'a move that is under way',
    {
      pods: [
        ...pods.slice(0, 6),
        ...pods.slice(7),
        {
          name: 'web-o3',
          type: 'on-demand',
          rank: 3,
          numbers: seventyTwo,
          ready: false,
          createdAt: new Date(NOON - 5_000).toISOString(),
        },
      ],
      annotations: ask(70, 5),
    },
    {},
  ],
  [
    'a pod that is gone and not replaced yet',
    { pods: pods.filter(({ name }) => name !== 'web-s6'), replicas: 10, annotations: ask(70, 5) },
    {},
  ],
  ['more replicas in a drought', { noSpot: true, droughts: drought() }, { replicas: 20 }],
  ['a workload that is not managed', { labels: {}, annotations: {} }, { spotPercentage: 50 }],
];

describe('what is shown of a change', () => {
  it.each(previews)('%s', async (what, scene, change) => {
    const survey = await surveyOf({ pods, ...scene });
    const preview = previewOf(survey, survey.workloads[0]!, {
      change: { ...nothing, ...change },
      pace: { ms: 20_000, origin: 'measured' },
      footprint: { history: null, inFlight: what === 'a move that is under way' },
      nowMs: NOON,
    });
    expect(previewText(preview, out, NOON)).toMatchSnapshot();
  });
});
