import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../testing/arbitraries.ts';
import { everyNode, nodeLabelSets, nodeLabelsOf, podSpecs, schedulerAccepts } from '../testing/nodes.ts';
import { allowedTypes } from './allowed.ts';
import { classifyNode } from './classify.ts';
import { preparePlacement } from './placement.ts';
import { type NodeRequirement, type PodSpecView, requiredTerms } from '../cluster/pod-spec.ts';
import { capacityTypes } from './type.ts';

const plain = { tolerations: [], affinity: { spot: [], 'on-demand': [] }, spreadSpotOverZones: false };
const karpenter = preparePlacement(nodeLabelsOf('a=s', 'a=o'), plain);
const both = preparePlacement(nodeLabelsOf(['a=s', 'b=s'], ['a=o', 'b=o']), plain);

const requiring = (...terms: (readonly NodeRequirement[])[]): PodSpecView => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })),
      },
    },
  },
});

const spotOnly: NodeRequirement = { key: 'a', operator: 'In', values: ['s'] };
const notOnDemand: NodeRequirement = { key: 'a', operator: 'NotIn', values: ['o'] };
const ssd: NodeRequirement = { key: 'disk', operator: 'In', values: ['ssd'] };

describe('the types a pod allows', () => {
  it('are both when it says nothing about capacity', () => {
    expect(allowedTypes({}, karpenter)).toBe('both');
    expect(allowedTypes({ nodeSelector: { disk: 'ssd' } }, karpenter)).toBe('both');
    expect(allowedTypes(requiring([ssd]), karpenter)).toBe('both');
    expect(allowedTypes({ nodeSelector: null, affinity: null }, karpenter)).toBe('both');
  });

  it('are both when its nodeSelector names the key that placement writes', () => {
    expect(allowedTypes({ nodeSelector: { a: 's' } }, karpenter)).toBe('both');
    expect(
      allowedTypes({ nodeSelector: { a: 's' } }, preparePlacement(nodeLabelsOf('a=s', '!a'), plain)),
    ).toBe('both');
  });

  it('are limited by a nodeSelector on another configured key', () => {
    expect(allowedTypes({ nodeSelector: { b: 'o' } }, both)).toBe('on-demand');
    expect(
      allowedTypes({ nodeSelector: { b: 'o' } }, preparePlacement(nodeLabelsOf('a=s', 'b=o'), plain)),
    ).toBe('on-demand');
  });

  it('are limited by its required affinity', () => {
    expect(allowedTypes(requiring([spotOnly]), karpenter)).toBe('spot');
    expect(allowedTypes(requiring([notOnDemand]), karpenter)).toBe('spot');
    expect(allowedTypes(requiring([{ key: 'a', operator: 'DoesNotExist' }]), karpenter)).toBe('none');
    expect(allowedTypes(requiring([spotOnly, { key: 'a', operator: 'In', values: ['o'] }]), karpenter)).toBe(
      'none',
    );
  });

  it('are those of any of its required terms', () => {
    expect(allowedTypes(requiring([spotOnly], [ssd]), karpenter)).toBe('both');
    expect(allowedTypes(requiring([spotOnly], [notOnDemand, ssd]), karpenter)).toBe('spot');
  });

  it('are those for which a node could exist, as far as the configured keys go', () => {
    fc.assert(
      fc.property(podSpecs, nodeLabelSets, (spec, nodeLabels) => {
        const placement = preparePlacement(nodeLabels, plain);
        const possible = capacityTypes.filter((type) => {
          const relevant = onKeys(spec, placement.keys, placement.byType[type].overriddenKey);
          return everyNode.some(
            (labels) => classifyNode(labels, nodeLabels) === type && schedulerAccepts(relevant, labels),
          );
        });
        const expected = possible.length === 2 ? 'both' : (possible[0] ?? 'none');
        expect(allowedTypes(spec, placement)).toBe(expected);
      }),
      propertyRuns,
    );
  });
});

/** The same pod without its constraints on other keys; a term that has no others asks for nothing. */
function onKeys(spec: PodSpecView, keys: ReadonlySet<string>, overriddenKey: string | null): PodSpecView {
  const nodeSelector = Object.fromEntries(
    Object.entries(spec.nodeSelector ?? {}).filter(([key]) => keys.has(key) && key !== overriddenKey),
  );
  const terms = requiredTerms(spec)
    .map(({ matchExpressions }) => matchExpressions ?? [])
    .filter((requirements) => requirements.length > 0)
    .map((requirements) => requirements.filter(({ key }) => keys.has(key)));
  if (terms.some((requirements) => requirements.length === 0)) return { nodeSelector };
  return { ...requiring(...terms), nodeSelector };
}
