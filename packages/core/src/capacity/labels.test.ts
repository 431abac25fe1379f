import { describe, expect, it } from '@jest/globals';
import { everyNode, nodeLabelsOf } from '../testing/nodes.ts';
import { providerPresets } from '../testing/presets.ts';
import { classifyNode } from './classify.ts';
import { readNodeLabels } from './labels.ts';

describe('nodeLabels', () => {
  it('reads each form', () => {
    expect(nodeLabelsOf(['a.example/k=v', 'k=v.w_x-y'], ['k!=v', '!a.example/k'])).toEqual({
      spot: [
        { op: 'equals', key: 'a.example/k', value: 'v' },
        { op: 'equals', key: 'k', value: 'v.w_x-y' },
      ],
      onDemand: [
        { op: 'differs', key: 'k', value: 'v' },
        { op: 'absent', key: 'a.example/k' },
      ],
    });
  });

  it.each([
    '',
    'k',
    'k=',
    '=v',
    'k==v',
    '!k=v',
    'k=v,w',
    ' k=v',
    'k=v ',
    'UPPER.example/k=v',
    '/k=v',
    '-k=v',
    `k=${'v'.repeat(64)}`,
  ])('refuses %j and says where it stands and what would be right', (text) => {
    const reading = readNodeLabels({ spot: 'a=s', onDemand: ['a=o', text] });
    expect(reading).toMatchObject({
      ok: false,
      problems: [{ code: 'InvalidNodeLabel', key: 'nodeLabels.onDemand', value: text }],
    });
    expect(JSON.stringify(reading)).toContain('Example: karpenter.sh/capacity-type=spot');
  });

  it('refuses an empty list', () => {
    expect(readNodeLabels({ spot: [], onDemand: 'a=o' })).toMatchObject({
      problems: [{ code: 'MissingNodeLabel' }],
    });
  });

  it('refuses what would make a node both types', () => {
    expect(readNodeLabels({ spot: 'a=s', onDemand: ['a=o', 'a=s'] })).toMatchObject({
      problems: [{ code: 'AmbiguousNodeLabel', key: 'nodeLabels.onDemand' }],
    });
    expect(readNodeLabels({ spot: '!b', onDemand: '!a' })).toMatchObject({
      problems: [{ code: 'AmbiguousNodeLabel', key: 'nodeLabels' }],
    });
  });

  it.each(Object.entries(providerPresets))('accepts the preset for %s', (_, texts) => {
    expect(readNodeLabels(texts)).toMatchObject({ ok: true });
  });
});

describe("a node's type", () => {
  it.each<[keyof typeof providerPresets, Record<string, string>, string]>([
    ['karpenter', { 'karpenter.sh/capacity-type': 'spot' }, 'spot'],
    ['karpenter', { 'karpenter.sh/capacity-type': 'on-demand' }, 'on-demand'],
    ['karpenter', { 'karpenter.sh/capacity-type': 'reserved' }, 'unknown'],
    ['karpenter', {}, 'unknown'],
    ['eks', { 'eks.amazonaws.com/capacityType': 'SPOT' }, 'spot'],
    ['eks', { 'eks.amazonaws.com/capacityType': 'ON_DEMAND' }, 'on-demand'],
    ['eks', { 'eks.amazonaws.com/capacityType': 'spot' }, 'unknown'],
    ['gke', { 'cloud.google.com/gke-spot': 'true' }, 'spot'],
    ['gke', {}, 'on-demand'],
    ['gke', { 'cloud.google.com/gke-spot': 'false' }, 'unknown'],
    ['aks', { 'kubernetes.azure.com/scalesetpriority': 'spot' }, 'spot'],
    ['aks', { 'kubernetes.azure.com/scalesetpriority': 'regular' }, 'on-demand'],
    ['aks', {}, 'on-demand'],
  ])('with the preset for %s and the labels %j is %s', (name, labels, type) => {
    const { spot, onDemand } = providerPresets[name];
    expect(classifyNode(labels, nodeLabelsOf(spot, onDemand))).toBe(type);
  });

  it('is what the node claims, where another provider sees only a missing label', () => {
    const labels = nodeLabelsOf(['a=s', 'b=s'], ['a=o', '!b']);
    expect(classifyNode({ a: 's' }, labels)).toBe('spot');
    expect(classifyNode({ b: 's' }, labels)).toBe('spot');
    expect(classifyNode({ a: 'o' }, labels)).toBe('on-demand');
    expect(classifyNode({}, labels)).toBe('on-demand');
  });

  it('needs all the missing labels', () => {
    const labels = nodeLabelsOf(['a=s', 'b=s'], ['!a', '!b']);
    expect(classifyNode({}, labels)).toBe('on-demand');
    expect(classifyNode({ a: 'x' }, labels)).toBe('unknown');
  });

  it('is unknown when the node claims both', () => {
    const labels = nodeLabelsOf(['a=s', 'b=s'], ['a=o', 'b=o']);
    expect(classifyNode({ a: 's', b: 'o' }, labels)).toBe('unknown');
  });

  it('is found for both types among the nodes of the model', () => {
    const types = new Set(everyNode.map((labels) => classifyNode(labels, nodeLabelsOf('a=s', 'a=o'))));
    expect([...types].toSorted()).toEqual(['on-demand', 'spot', 'unknown']);
  });
});
