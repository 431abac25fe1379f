import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { deletionCost } from '../policy/slot.ts';
import { foreignKeys, podKeys } from '../policy/keys.ts';
import { policyNumbers, propertyRuns } from '../testing/arbitraries.ts';
import { everyNode, nodeLabelSets, nodeLabelsOf, podSpecs, schedulerAccepts } from '../testing/nodes.ts';
import { applyPatch } from '../testing/patch.ts';
import { admitPod, overrideOf, type PodAdmission } from './admit.ts';
import { classifyNode } from './classify.ts';
import { type Placement, type PlacementOptions, preparePlacement } from './placement.ts';
import type { PodView, Toleration } from '../cluster/pod-spec.ts';
import { capacityTypes } from './type.ts';

const plain: PlacementOptions = {
  tolerations: [],
  affinity: { spot: [], 'on-demand': [] },
  spreadSpotOverZones: false,
};
const placing = (
  spot: string | string[],
  onDemand: string | string[],
  options: Partial<PlacementOptions> = {},
) => preparePlacement(nodeLabelsOf(spot, onDemand), { ...plain, ...options });
const karpenter = placing('karpenter.sh/capacity-type=spot', 'karpenter.sh/capacity-type=on-demand');

const spot: PodAdmission = {
  type: 'spot',
  numbers: { spotPercentage: 70, minOnDemand: 2 },
  substitute: false,
  place: { kind: 'reserved', token: 'token-1', rank: 3 },
};
const onDemand: PodAdmission = { ...spot, type: 'on-demand' };
const pod = (changes: Partial<PodView> = {}): PodView => ({ metadata: {}, spec: {}, ...changes });
const annotated = (annotations: Record<string, string>) => pod({ metadata: { annotations } });
const admitted = (before: PodView, admission: PodAdmission, placement: Placement): PodView =>
  applyPatch(before, admitPod(before, admission, placement).operations);
const termsOf = ({ spec }: PodView) =>
  spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;

describe('an admitted pod', () => {
  it('carries the label of its type and the bookkeeping', () => {
    expect(admitted(pod(), spot, karpenter)).toEqual({
      metadata: {
        annotations: {
          'spotalis.io/capacity-type': 'spot',
          'spotalis.io/policy': '70/2',
          'spotalis.io/reservation': 'token-1',
          'spotalis.io/rank': '3',
          'controller.kubernetes.io/pod-deletion-cost': '-5',
        },
      },
      spec: { nodeSelector: { 'karpenter.sh/capacity-type': 'spot' } },
    });
  });

  it("keeps everything else that the template has, and gives way only on the type's key", () => {
    const before = pod({
      metadata: { annotations: { team: 'shop' } },
      spec: {
        nodeSelector: { 'karpenter.sh/capacity-type': 'spot', disk: 'ssd' },
        tolerations: [{ key: 'gpu' }],
      },
    });
    const after = admitted(before, onDemand, karpenter);
    expect(after.spec).toEqual({
      nodeSelector: { 'karpenter.sh/capacity-type': 'on-demand', disk: 'ssd' },
      tolerations: [{ key: 'gpu' }],
    });
    expect(after.metadata?.annotations).toMatchObject({
      team: 'shop',
      'spotalis.io/capacity-type': 'on-demand',
    });
  });

  it('is kept off the nodes of a type that is known by a label only, whatever its nodeSelector said', () => {
    const gke = placing('cloud.google.com/gke-spot=true', '!cloud.google.com/gke-spot');
    const after = admitted(
      pod({ spec: { nodeSelector: { 'cloud.google.com/gke-spot': 'true' } } }),
      onDemand,
      gke,
    );
    expect(after.spec.nodeSelector).toEqual({});
    expect(termsOf(after)).toEqual([
      { matchExpressions: [{ key: 'cloud.google.com/gke-spot', operator: 'DoesNotExist' }] },
    ]);
    const aks = placing('k8s.example/priority=spot', 'k8s.example/priority!=spot');
    expect(termsOf(admitted(pod(), onDemand, aks))).toEqual([
      { matchExpressions: [{ key: 'k8s.example/priority', operator: 'NotIn', values: ['spot'] }] },
    ]);
  });

  it('gets one term per label where a type has several, in every term it already has', () => {
    const several = placing(['a=s', 'b=s'], ['a=o', 'b=o']);
    const a = { key: 'a', operator: 'In' as const, values: ['s'] };
    const b = { key: 'b', operator: 'In' as const, values: ['s'] };
    expect(termsOf(admitted(pod(), spot, several))).toEqual([
      { matchExpressions: [a] },
      { matchExpressions: [b] },
    ]);

    const ssd = { key: 'disk', operator: 'In' as const, values: ['ssd'] };
    const field = { key: 'metadata.name', operator: 'In' as const, values: ['node-1'] };
    const nodeSelectorTerms = [{ matchExpressions: [ssd] }, { matchFields: [field] }, {}];
    const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [] };
    const spec = {
      affinity: {
        nodeAffinity: { ...preferred, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
        podAntiAffinity: {},
      },
    };
    const after = admitted(pod({ spec }), spot, several);
    expect(termsOf(after)).toEqual([
      { matchExpressions: [ssd, a] },
      { matchExpressions: [ssd, b] },
      { matchFields: [field], matchExpressions: [a] },
      { matchFields: [field], matchExpressions: [b] },
      {},
    ]);
    expect(after.spec.affinity).toMatchObject({ nodeAffinity: preferred, podAntiAffinity: {} });
  });

  it('gets the configured tolerations once, and only on spot', () => {
    const pool: Toleration = { key: 'pool', value: 'spot', effect: 'NoSchedule' };
    const placement = placing('a=s', 'a=o', { tolerations: [pool, { key: 'other' }] });
    expect(admitted(pod(), spot, placement).spec.tolerations).toEqual([pool, { key: 'other' }]);
    const own = { ...pool, operator: 'Equal' };
    expect(admitted(pod({ spec: { tolerations: [own] } }), spot, placement).spec.tolerations).toEqual([
      own,
      { key: 'other' },
    ]);
    expect(admitted(pod(), onDemand, placement).spec.tolerations).toBeUndefined();
  });

  it('gets the configured affinity of its type beside the label', () => {
    const arm = { key: 'kubernetes.io/arch', operator: 'In' as const, values: ['arm64'] };
    const placement = placing('a=s', 'a=o', { affinity: { spot: [arm], 'on-demand': [] } });
    const after = admitted(pod(), spot, placement);
    expect(after.spec.nodeSelector).toEqual({ a: 's' });
    expect(termsOf(after)).toEqual([{ matchExpressions: [arm] }]);
    expect(termsOf(admitted(pod(), onDemand, placement))).toBeUndefined();
  });

  it('on spot is spread over zones by its revision, unless the template spreads over zones itself', () => {
    const placement = placing('a=s', 'a=o', { spreadSpotOverZones: true });
    const labelled = pod({ metadata: { labels: { 'pod-template-hash': '7d4b9' } } });
    expect(admitted(labelled, spot, placement).spec.topologySpreadConstraints).toEqual([
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { 'pod-template-hash': '7d4b9' } },
      },
    ]);
    const stateful = pod({ metadata: { labels: { 'controller-revision-hash': 'db-5c' } } });
    expect(admitted(stateful, spot, placement).spec.topologySpreadConstraints).toMatchObject([
      { labelSelector: { matchLabels: { 'controller-revision-hash': 'db-5c' } } },
    ]);
    const own = { ...labelled, spec: { topologySpreadConstraints: [{ topologyKey: foreignKeys.zone }] } };
    expect(admitted(own, spot, placement).spec.topologySpreadConstraints).toHaveLength(1);
    expect(admitted(labelled, onDemand, placement).spec.topologySpreadConstraints).toBeUndefined();
    expect(admitted(pod(), spot, placement).spec.topologySpreadConstraints).toBeUndefined();
  });
});

describe('the bookkeeping', () => {
  it("leaves a user's own deletion cost alone and reports it", () => {
    const before = annotated({ [foreignKeys.podDeletionCost]: '100' });
    expect(admitPod(before, spot, karpenter).foreignDeletionCost).toBe('100');
    expect(admitted(before, spot, karpenter).metadata?.annotations).toMatchObject({
      [foreignKeys.podDeletionCost]: '100',
      [podKeys.reservation]: 'token-1',
    });
  });

  it('overwrites what a template copied from another pod brought along', () => {
    const copied = admitted(pod(), { ...onDemand, substitute: true }, karpenter);
    const next = { ...spot, place: { kind: 'reserved' as const, token: 'token-2', rank: 0 } };
    expect(admitPod(copied, next, karpenter).foreignDeletionCost).toBeNull();
    expect(admitted(copied, next, karpenter)).toEqual(admitted(pod(), next, karpenter));
  });

  it('marks a substitute', () => {
    const after = admitted(pod(), { ...onDemand, substitute: true }, karpenter);
    expect(after.metadata?.annotations).toMatchObject({ [podKeys.substitute]: 'true' });
  });

  it("of a StatefulSet's pod has no reservation, rank or cost", () => {
    const forged = annotated({
      [podKeys.reservation]: 'forged',
      [podKeys.rank]: '9',
      [foreignKeys.podDeletionCost]: '7',
    });
    expect(
      admitted(forged, { ...spot, place: { kind: 'ordinal' } }, karpenter).metadata?.annotations,
    ).toEqual({
      [podKeys.capacityType]: 'spot',
      [podKeys.policy]: '70/2',
      [foreignKeys.podDeletionCost]: '7',
    });
  });
});

describe('the patch', () => {
  const admissions: fc.Arbitrary<PodAdmission> = fc.record({
    type: fc.constantFrom(...capacityTypes),
    numbers: policyNumbers,
    substitute: fc.boolean(),
    place: fc.oneof(
      fc.record({ kind: fc.constant('reserved' as const), token: fc.uuid(), rank: fc.nat(2_000) }),
      fc.constant({ kind: 'ordinal' as const }),
    ),
  });
  const annotations = fc.option(
    fc.dictionary(
      fc.constantFrom('a/b~c', ...Object.values(podKeys), foreignKeys.podDeletionCost),
      fc.constantFrom('1', 'spot', '70/2'),
    ),
  );
  const options: fc.Arbitrary<PlacementOptions> = fc.record({
    tolerations: fc.subarray([{ key: 'pool' }, { key: 'pool', effect: 'NoSchedule' }]),
    affinity: fc.record({
      spot: fc.subarray([{ key: 'disk', operator: 'In' as const, values: ['ssd'] }]),
      'on-demand': fc.constant([]),
    }),
    spreadSpotOverZones: fc.boolean(),
  });

  it('is empty for a pod that has been admitted the same way', () => {
    fc.assert(
      fc.property(
        podSpecs,
        annotations,
        admissions,
        nodeLabelSets,
        options,
        (spec, notes, admission, labels, given) => {
          const placement = preparePlacement(labels, given);
          const before: PodView = {
            metadata: { annotations: notes, labels: { 'pod-template-hash': 'x' } },
            spec,
          };
          const after = admitted(before, admission, placement);
          expect(admitPod(after, admission, placement).operations).toEqual([]);
        },
      ),
      propertyRuns,
    );
  });

  it('makes the scheduler accept the nodes of the type that it accepted before, and no others', () => {
    fc.assert(
      fc.property(podSpecs, admissions, nodeLabelSets, (spec, admission, labels) => {
        const placement = preparePlacement(labels, plain);
        const key = placement.byType[admission.type].overriddenKey ?? '';
        const { [key]: _, ...nodeSelector } = spec.nodeSelector ?? {};
        const after = admitted({ metadata: {}, spec }, admission, placement).spec;
        const wrong = everyNode.filter((node) => {
          const type = classifyNode(node, labels);
          // A node that claims both types has the label that placement goes by; nothing keeps a pod off it.
          if (type === 'unknown') return false;
          const accepted = type === admission.type && schedulerAccepts({ ...spec, nodeSelector }, node);
          return schedulerAccepts(after, node) !== accepted;
        });
        expect(wrong).toEqual([]);
      }),
      propertyRuns,
    );
  });

  it('writes the cost of the place', () => {
    fc.assert(
      fc.property(policyNumbers, fc.constantFrom(...capacityTypes), fc.nat(2_000), (numbers, type, rank) => {
        const admission = {
          type,
          numbers,
          substitute: false,
          place: { kind: 'reserved', token: 't', rank },
        } as const;
        expect(
          admitted(pod(), admission, karpenter).metadata?.annotations?.[foreignKeys.podDeletionCost],
        ).toBe(String(deletionCost(numbers, type, rank)));
      }),
      propertyRuns,
    );
  });
});

describe('what somebody changed after an admission', () => {
  it('is nothing on a pod as admission left it, however types are told apart', () => {
    fc.assert(
      fc.property(nodeLabelSets, podSpecs, fc.constantFrom(...capacityTypes), (labels, spec, type) => {
        const placement = preparePlacement(labels, plain);
        const after = admitted(pod({ spec }), { ...spot, type }, placement);
        expect(overrideOf(after.spec, type, placement)).toBeNull();
      }),
      propertyRuns,
    );
  });

  it.each([
    [
      { 'karpenter.sh/capacity-type': 'spot' },
      'spec.nodeSelector["karpenter.sh/capacity-type"] is "spot" instead of "on-demand"',
    ],
    [{}, 'spec.nodeSelector["karpenter.sh/capacity-type"], which was "on-demand", is gone'],
  ])('is named with its field: %j', (nodeSelector, said) => {
    expect(overrideOf({ nodeSelector }, 'on-demand', karpenter)).toBe(said);
  });

  it('is named where an affinity says it', () => {
    const several = placing(['a=spot', 'b=spot'], ['a=od', 'b=od']);
    const after = admitted(pod(), onDemand, several);
    expect(overrideOf(after.spec, 'on-demand', several)).toBeNull();
    expect(overrideOf(admitted(pod(), spot, several).spec, 'on-demand', several)).toMatch(/nodeAffinity/);
  });
});
