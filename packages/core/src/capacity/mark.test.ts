import { describe, expect, it } from '@jest/globals';
import { deletionCost } from '../policy/slot.ts';
import { hasForeignCost, readPodMark } from './mark.ts';

describe("a pod's mark", () => {
  it('reads what an admission wrote', () => {
    const annotations = {
      'spotalis.io/reservation': 'token-1',
      'spotalis.io/capacity-type': 'on-demand',
      'spotalis.io/rank': '12',
      'spotalis.io/policy': '70/2',
      'spotalis.io/substitute': 'true',
    };
    expect(readPodMark(annotations)).toEqual({
      token: 'token-1',
      type: 'on-demand',
      rank: 12,
      numbers: { spotPercentage: 70, minOnDemand: 2 },
      substitute: true,
    });
  });

  it('takes nothing that is not ours', () => {
    const annotations = {
      'spotalis.io/reservation': '',
      'spotalis.io/capacity-type': 'Spot',
      'spotalis.io/rank': '-1',
      'spotalis.io/policy': 'all',
      'spotalis.io/substitute': 'yes',
    };
    const nothing = { token: null, type: null, rank: null, numbers: null, substitute: false };
    expect(readPodMark(annotations)).toEqual(nothing);
    expect(readPodMark({})).toEqual(nothing);
  });
});

describe("a template's deletion cost", () => {
  const cost = 'controller.kubernetes.io/pod-deletion-cost';
  const marked = {
    'spotalis.io/capacity-type': 'spot',
    'spotalis.io/rank': '3',
    'spotalis.io/policy': '70/2',
  };
  const own = String(deletionCost({ spotPercentage: 70, minOnDemand: 2 }, 'spot', 3));

  it("is the user's own unless it came along with the marks that explain it", () => {
    expect(hasForeignCost({})).toBe(false);
    expect(hasForeignCost({ [cost]: '7' })).toBe(true);
    expect(hasForeignCost({ ...marked, [cost]: '7' })).toBe(true);
    expect(hasForeignCost({ ...marked, [cost]: own })).toBe(false);
    expect(hasForeignCost({ [cost]: own })).toBe(true);
  });
});
