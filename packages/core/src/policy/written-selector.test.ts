import { describe, expect, it } from '@jest/globals';
import { labelSelector } from './written-selector.ts';

describe('a label selector as people write it', () => {
  it.each([
    [{}],
    [{ matchLabels: { 'team.example.com/name': 'web' } }],
    [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }],
    [{ matchExpressions: [{ key: 'a', operator: 'Exists', values: [] }] }],
  ])('is taken as it is: %j', (written) => {
    expect(labelSelector.read(written)).toEqual({ value: written });
  });

  it.each([
    [[], '[] is no map'],
    [{ labels: {} }, 'labels is neither matchLabels nor matchExpressions'],
    [{ matchLabels: [] }, 'matchLabels is no map'],
    [{ matchLabels: { a: 1 } }, 'matchLabels.a is no text: put 1 in quotes'],
    [{ matchExpressions: {} }, 'matchExpressions is no list'],
    [{ matchExpressions: [{ operator: 'In' }] }, 'matchExpressions[0] has no key'],
    [
      { matchExpressions: [{ key: 'a', operator: 'In', value: 'b' }] },
      'matchExpressions[0] has an unknown field value',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'NotIn' }] },
      'matchExpressions[0] needs values, a list of texts, for NotIn',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'Gt' }] },
      'matchExpressions[0] has operator "Gt", which is none of In, NotIn, Exists, DoesNotExist',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
      'matchExpressions[0] takes no values with Exists',
    ],
  ])('is refused with what is wrong: %j', (written, problem) => {
    expect(labelSelector.read(written)).toEqual({ problem });
  });
});
