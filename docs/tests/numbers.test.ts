import { describe, expect, it } from '@jest/globals';
import { policyKeys, targetSpot } from '@spotalis/core';
import { pages, tableRows } from './pages.ts';

const textOf = (wanted: string): string => pages().find(({ path }) => path === wanted)?.text ?? '';

describe('the numbers in the documentation', () => {
  const rows = tableRows(textOf('docs/concepts.md'), ['Replicas', 'Share', 'Floor', 'Spot', 'On-demand']);

  it.each(rows)('are right for %s replicas at %s % and a floor of %s', (...row) => {
    const [replicas = 0, spotPercentage = 0, minOnDemand = 0, spot, onDemand] = row.slice(0, 5).map(Number);
    const target = targetSpot({ spotPercentage, minOnDemand }, replicas);
    expect({ spot, onDemand }).toEqual({ spot: target, onDemand: replicas - target });
  });

  it.each(['docs/annotations.md', 'README.md'])('name each annotation there is in %s', (path) => {
    const named = tableRows(textOf(path), ['Key', 'Value']).map(([key]) => key?.replaceAll('`', ''));
    expect(new Set(named)).toEqual(new Set(Object.values(policyKeys)));
  });
});
