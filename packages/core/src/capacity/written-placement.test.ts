import { describe, expect, it } from '@jest/globals';
import { nodeRequirements, tolerations } from './written-placement.ts';

describe('tolerations as people write them', () => {
  it.each([
    [[]],
    [[{ operator: 'Exists' }]],
    [[{ key: 'spot', operator: 'Equal', value: 'true', effect: 'NoExecute', tolerationSeconds: 30 }]],
  ])('are taken as they are: %j', (written) => {
    expect(tolerations.read(written)).toEqual({ value: written });
  });

  it.each([
    [{}, '{} is no list'],
    [['a'], 'entry 0 is no map'],
    [[{ key: 'a' }, { key: 'a', name: 'b' }], 'entry 1 has an unknown field name'],
    [[{ key: 'a', effect: 'No' }], 'entry 0 has effect "No"'],
    [[{ key: 'a', tolerationSeconds: 1.5 }], 'entry 0 has tolerationSeconds 1.5'],
    [[{ operator: 'Equal' }], 'entry 0 has no key, which only operator Exists may go without'],
  ])('are refused with what is wrong: %j', (written, problem) => {
    expect(tolerations.read(written)).toEqual({ problem });
  });
});

describe('requirements of nodes as people write them', () => {
  it.each([
    [[{ key: 'disk', operator: 'In', values: ['ssd'] }]],
    [[{ key: 'cpu', operator: 'Gt', values: ['-4'] }]],
    [[{ key: 'arm', operator: 'DoesNotExist' }]],
  ])('are taken as they are: %j', (written) => {
    expect(nodeRequirements.read(written)).toEqual({ value: written });
  });

  it.each([
    ['a', '"a" is no list'],
    [[{ operator: 'Gt', values: ['1'] }], 'entry 0 has no key'],
    [
      [{ key: 'cpu', operator: 'Lt', values: ['many'] }],
      'entry 0 needs values with one whole number as text for "Lt"',
    ],
    [[{ key: 'disk', operator: 'In' }], 'entry 0 needs values, a list of texts, for In'],
  ])('are refused with what is wrong: %j', (written, problem) => {
    expect(nodeRequirements.read(written)).toEqual({ problem });
  });
});
