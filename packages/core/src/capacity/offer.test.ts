import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../testing/arbitraries.ts';
import { everyNode, nodeLabelSets, nodeLabelsOf } from '../testing/nodes.ts';
import { classifyNode } from './classify.ts';
import { offersOnDemand, onDemandSelectors } from './offer.ts';

/** As the API server reads a label selector of these forms. */
function selects(selector: string, labels: Readonly<Record<string, string>>): boolean {
  return selector.split(',').every((part) => {
    if (part.startsWith('!')) return labels[part.slice(1)] === undefined;
    const [key = '', value = ''] = part.split(/!?=/);
    return (labels[key] === value) !== part.includes('!=');
  });
}

describe('on-demand nodes', () => {
  it('are each found by some selector, whatever the labels are configured to be', () => {
    fc.assert(
      fc.property(nodeLabelSets, (nodeLabels) => {
        const selectors = onDemandSelectors(nodeLabels);
        for (const labels of everyNode) {
          if (classifyNode(labels, nodeLabels) !== 'on-demand') continue;
          expect(selectors.some((selector) => selects(selector, labels))).toBe(true);
        }
      }),
      propertyRuns,
    );
  });
});

const karpenter = nodeLabelsOf('karpenter.sh/capacity-type=spot', 'karpenter.sh/capacity-type=on-demand');
const key = 'karpenter.sh/capacity-type';

const pool = (requirements: readonly object[], labels = {}) =>
  ({ spec: { template: { metadata: { labels }, spec: { requirements } } } }) as Parameters<
    typeof offersOnDemand
  >[0];

describe('a NodePool', () => {
  it.each([
    ['asks for both', [{ key, operator: 'In', values: ['spot', 'on-demand'] }], true],
    ['asks for spot only', [{ key, operator: 'In', values: ['spot'] }], false],
    ['excludes spot', [{ key, operator: 'NotIn', values: ['spot'] }], true],
    ['excludes on-demand', [{ key, operator: 'NotIn', values: ['on-demand'] }], false],
    ['asks for nothing', [], true],
    ['asks for another thing', [{ key: 'disk', operator: 'Exists' }], true],
  ])('that %s offers on-demand: %s', (_what, requirements, offers) => {
    expect(offersOnDemand(pool(requirements), karpenter)).toBe(offers);
  });

  it('offers what its own labels say', () => {
    const own = nodeLabelsOf('pool=spot', 'pool=steady');
    expect(offersOnDemand(pool([], { pool: 'steady' }), own)).toBe(true);
    expect(offersOnDemand(pool([], { pool: 'spot' }), own)).toBe(false);
    expect(offersOnDemand(pool([]), own)).toBe(false);
    expect(offersOnDemand({}, own)).toBe(false);
  });
});
