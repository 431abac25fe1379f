import { describe, expect, it } from '@jest/globals';
import { plain } from '@spotalis/units';
import { noFootprint } from '../cluster/survey.ts';
import { ask, drought, NOON, pdb, podsOf, type Scene, surveyOf } from '../testing/scene.ts';
import { explanationText, podExplanation } from './explain.ts';
import { explainWorkload } from './workload.ts';

const usual = { spotPercentage: 70, minOnDemand: 2 };
const ten = podsOf(7, 3, usual);
const enabled = { 'spotalis.io/enabled': 'true' };
const toSpot = {
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }] },
        ],
      },
    },
  },
};
/** Ten pods of the policy 70/2, of which one more should be on-demand. */
const floorRaised: Scene = { annotations: ask(70, 4), pods: ten };

/** A StatefulSet, with a letter for the type of each ordinal. */
const ordinals = (types: string, annotations: Record<string, string>): Scene => ({
  kind: 'StatefulSet',
  annotations,
  pods: Array.from(types, (letter, ordinal) => ({
    name: `web-${ordinal}`,
    type: letter === 's' ? ('spot' as const) : ('on-demand' as const),
    rank: null,
    numbers: { spotPercentage: 50, minOnDemand: 0 },
  })),
});

/** A substitute is in place of a spot pod. */
const dry: Scene = {
  pods: [
    ...podsOf(6, 3, usual),
    {
      name: 'web-o3',
      type: 'on-demand',
      rank: 3,
      numbers: usual,
      annotations: { 'spotalis.io/substitute': 'true' },
    },
  ],
  noSpot: true,
};

const pods: readonly (readonly [situation: string, pod: string, scene: Scene])[] = [
  ['on spot, as it should be', 'web-s3', { pods: ten }],
  ['the first on-demand pod', 'web-o0', { pods: ten }],
  ['next to move after the floor was raised', 'web-s6', floorRaised],
  ['spared while others move', 'web-s0', floorRaised],
  [
    'protected by its owner',
    'web-s6',
    {
      ...floorRaised,
      pods: ten.map((one) =>
        one.name === 'web-s6' ? { ...one, annotations: { 'spotalis.io/do-not-move': 'true' } } : one,
      ),
    },
  ],
  ['on a cordoned node', 'web-s6', { ...floorRaised, cordoned: ['spot-1'] }],
  ['held by a PodDisruptionBudget', 'web-s6', { ...floorRaised, pdbs: [pdb('web', 10, 10)] }],
  [
    'selected by two PodDisruptionBudgets',
    'web-s6',
    { ...floorRaised, pdbs: [pdb('web', 10, 9), pdb('all', 10, 9)] },
  ],
  ['in place of a spot pod', 'web-o3', dry],
  ['in place of a spot pod, as the controller tells', 'web-o3', { ...dry, droughts: drought() }],
  [
    'waiting for a spot node',
    'web-s6',
    {
      pods: ten.map((one) => (one.name === 'web-s6' ? { ...one, node: null } : one)),
    },
  ],
  [
    'from before the workload was managed',
    'web-a',
    {
      pods: [...podsOf(6, 3, usual), { name: 'web-a', type: 'spot' }],
    },
  ],
  [
    'on a node that is neither',
    'web-s6',
    {
      pods: ten.map((one) => (one.name === 'web-s6' ? { ...one, node: 'plain' } : one)),
    },
  ],
  [
    'on a node of the other type',
    'web-s6',
    {
      pods: ten.map((one) => (one.name === 'web-s6' ? { ...one, node: 'od-1' } : one)),
    },
  ],
  [
    'of a StatefulSet',
    'web-2',
    {
      kind: 'StatefulSet',
      annotations: ask(50, 1),
      pods: [0, 1, 2, 3].map((ordinal) => ({
        name: `web-${ordinal}`,
        type: ordinal % 3 === 0 ? ('on-demand' as const) : ('spot' as const),
        rank: null,
        numbers: { spotPercentage: 50, minOnDemand: 1 },
      })),
    },
  ],
  ['of a StatefulSet, below its floor', 'web-0', ordinals('sosossoo', ask(50, 1))],
  ['of a StatefulSet, on the type of another ordinal', 'web-3', ordinals('oossssoo', ask(50, 1))],
  [
    'of a workload that nobody manages',
    'web-a',
    { labels: {}, namespaceLabels: {}, annotations: {}, pods: [{ name: 'web-a' }, { name: 'web-b' }] },
  ],
  ['that no workload made', 'alone', { pods: [...ten] }],
];

const workloads: readonly (readonly [situation: string, scene: Scene])[] = [
  ['as it should be', { pods: ten }],
  ['about to move', floorRaised],
  [
    'outside of its window',
    {
      ...floorRaised,
      annotations: {
        ...ask(70, 4),
        'spotalis.io/disruption-schedule': 'CRON_TZ=Europe/Berlin 0 22 * * *',
        'spotalis.io/disruption-duration': '4h',
      },
    },
  ],
  ['with an invalid number', { pods: ten, annotations: { 'spotalis.io/spot-percentage': '70 percent' } }],
  ['with a mistyped key', { pods: ten, annotations: { ...ask(70, 2), 'spotalis.io/min-ondemand': '3' } }],
  ['with one label of two', { pods: ten, namespaceLabels: {} }],
  ['without a policy', { pods: ten, annotations: {} }],
  ['by the defaults of its namespace', { pods: ten, annotations: {}, namespaceAnnotations: ask(70, 2) }],
  ['a StatefulSet that a scale-down would find below its floor', ordinals('sosossoo', ask(50, 2))],
  ['a StatefulSet that a scale-down would find off', ordinals('oossssoo', ask(50, 1))],
  ['bound to spot by itself', { pods: podsOf(10, 0, usual), templateSpec: toSpot }],
  [
    'with too few pods available',
    {
      ...floorRaised,
      pods: ten.map((one, index) => (index > 6 ? { ...one, ready: false } : one)),
    },
  ],
  ['in a drought', dry],
  [
    'whose pods wait for spot capacity, before that is a drought',
    {
      pods: ten.map((one) => (one.type === 'spot' ? { ...one, node: null, unschedulable: true } : one)),
      noSpot: true,
    },
  ],
  ['in a drought that the controller tells of', { ...dry, droughts: drought() }],
  [
    'in a drought that ends',
    { ...dry, noSpot: false, droughts: drought({ state: 'half-open', nextProbeAtMs: null }) },
  ],
  [
    'in a drought of its placement',
    { ...dry, droughts: drought({ uid: 'other-uid', name: 'other', poolIsOpen: true }) },
  ],
  ['without anybody to bridge a drought', { ...dry, configuration: { redis: { url: 'memory://' } } }],
  [
    'while the webhook is away',
    {
      ...floorRaised,
      webhook: { kind: 'notServing', detail: 'the Service spotalis/spotalis-webhook has no ready endpoint' },
    },
  ],
  [
    'while webhooks admit by other defaults',
    {
      pods: ten,
      annotations: { 'spotalis.io/spot-percentage': '70' },
      configuration: { defaults: { minOnDemand: 4 } },
    },
  ],
  ['with a single replica', { pods: podsOf(1, 0, usual), annotations: ask(0, 1) }],
  ['paused', { ...floorRaised, annotations: { ...ask(70, 4), 'spotalis.io/paused': 'true' } }],
];

describe('what is said of a pod', () => {
  it.each(pods)('%s', async (_situation, name, scene) => {
    const whole = name === 'alone' ? { ...scene, pods: [...scene.pods, { name, bare: true }] } : scene;
    const survey = await surveyOf(whole);
    const pod = survey.pod('shop', name);
    if (pod === undefined) throw new Error(`${name} is not there`);
    expect(
      explanationText(podExplanation(survey, pod, noFootprint, NOON), { style: plain, width: undefined }),
    ).toMatchSnapshot();
  });
});

describe('what is said of a workload', () => {
  it.each(workloads)('%s', async (_situation, scene) => {
    const survey = await surveyOf(scene);
    const [workload] = survey.workloads;
    const told = explainWorkload(survey, workload!, { footprint: noFootprint, told: [], nowMs: NOON });
    expect(explanationText(told, { style: plain, width: undefined })).toMatchSnapshot();
  });

  const oneOfTen = (change: object) =>
    ten.map((one) => (one.name === 'web-s6' ? { ...one, ...change } : one));
  it.each([
    ['one pod has no node', oneOfTen({ node: null }), 9],
    ['one pod is not Ready', oneOfTen({ ready: false }), 9],
    [
      'none is Ready and one has no node',
      oneOfTen({ node: null }).map((one) => ({ ...one, ready: false })),
      0,
    ],
  ])('gives one answer of a PodDisruptionBudget where %s', async (_what, those, healthy) => {
    const survey = await surveyOf({ pods: those, pdbs: [pdb('web', healthy, 9)] });
    const { paragraphs } = explainWorkload(survey, survey.workloads[0]!, {
      footprint: noFootprint,
      told: [],
      nowMs: NOON,
    });
    const limits = paragraphs.find(({ title }) => title === 'Limits')?.sentences ?? [];
    expect(limits.filter((each) => each.startsWith('PodDisruptionBudget'))).toEqual([
      `PodDisruptionBudget web lets none go: ${healthy} pods are healthy and 9 must stay so.`,
    ]);
  });

  it('ends with what the controller said lately', async () => {
    const survey = await surveyOf({ pods: ten, labels: enabled });
    const told = [{ atMs: NOON - 90_000, reason: 'Moved', note: 'Moving web-s6 from spot to on-demand.' }];
    const { paragraphs } = explainWorkload(survey, survey.workloads[0]!, {
      footprint: noFootprint,
      told,
      nowMs: NOON,
    });
    expect(paragraphs.at(-1)).toEqual({
      title: 'Lately',
      sentences: ['90s ago, Moved: Moving web-s6 from spot to on-demand.'],
    });
  });
});
