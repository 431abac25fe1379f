import { describe, expect, it } from '@jest/globals';
import { toy } from '../testing/toy.ts';
import { apiVersion } from './definition.ts';
import { readSpec } from './parse.ts';
import { readiness } from './readiness.ts';

const least = { bounds: { cpu: { min: '100m', max: '2' } } };
const of = (spec: unknown) => readiness(readSpec(toy, { apiVersion, kind: toy.kind, metadata: {}, spec }));

describe('the readiness of an object', () => {
  it('is for its module to say where it is valid', () => {
    expect(of(least)).toBeNull();
  });

  it('names field, value and a valid example where it is invalid', () => {
    expect(of({ ...least, window: '2m' })).toEqual({
      type: 'Ready',
      status: 'False',
      reason: 'Invalid',
      message:
        'This object is invalid, and nothing is done by it: spec.window: "2m" is not a duration from 6m to 1h. Example: "30m"',
    });
  });

  it.each([
    ['a field', { later: true }, 'spec.later: this version has no such field'],
    ['a word', { mode: 'Later' }, 'spec.mode: "Later" is not'],
  ])('says of %s of a newer version that the object is left alone', (_, more, named) => {
    const finding = of({ ...least, ...more });
    expect(finding).toMatchObject({ status: 'False', reason: 'NewerVersion' });
    expect(finding?.message).toContain(`left alone: ${named}`);
  });

  it('names a few problems and counts the others', () => {
    const faults = { window: '2m', weight: 0, throttled: -1, greedy: -1, maxPods: '0%' };
    expect(of({ ...least, ...faults })?.message).toMatch(/(spec\.\w+: .*){3}; 2 more problems$/);
    const { maxPods: _, ...fewer } = faults;
    expect(of({ ...least, ...fewer })?.message).toMatch(/; 1 more problem$/);
  });
});
