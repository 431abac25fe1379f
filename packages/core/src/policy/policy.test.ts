import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { targetSpot } from './target.ts';
import { propertyRuns } from '../testing/arbitraries.ts';
import { policyCases } from './cases.ts';
import { policyKeys as key } from './keys.ts';
import { namespaceProblems, type PolicySources, readPolicy, type ValidPolicy } from './policy.ts';

const sources = (given: Partial<PolicySources>): PolicySources => ({
  workload: {},
  namespace: {},
  defaults: {},
  ...given,
});

function valid(given: Partial<PolicySources>): ValidPolicy {
  const reading = readPolicy(sources(given));
  if (reading.kind !== 'valid') throw new Error(JSON.stringify(reading.problems));
  return reading;
}

const first = (given: Partial<PolicySources>) => readPolicy(sources(given)).problems[0];

describe('a policy', () => {
  it.each(policyCases)('with $name is $kind', ({ workload, namespace = {}, kind, problems }) => {
    const reading = readPolicy(sources({ workload, namespace }));
    expect(reading.problems.map(({ code, key: name, where }) => ({ code, key: name, where }))).toEqual(
      problems,
    );
    expect(reading.kind).toBe(kind);
  });

  it('holds what the annotations say', () => {
    const reading = valid({
      workload: {
        [key.spotPercentage]: ' 70% ',
        [key.minOnDemand]: '2',
        [key.disruptionSchedule]: 'CRON_TZ=Europe/Berlin 0 22 * * 1-5',
        [key.disruptionDuration]: '2h30m',
        [key.spotFallbackAfter]: '45s',
        [key.paused]: 'true',
      },
    });
    expect(reading).toEqual({
      kind: 'valid',
      numbers: { spotPercentage: 70, minOnDemand: 2 },
      defaulted: [],
      window: { schedule: { pattern: '0 22 * * 1-5', timeZone: 'Europe/Berlin' }, durationMs: 9_000_000 },
      fallbackAfterMs: 45_000,
      paused: true,
      problems: [],
    });
  });

  it('with one number has the others at their defaults', () => {
    const reading = valid({ workload: { [key.minOnDemand]: '2' } });
    expect(reading).toMatchObject({
      numbers: { spotPercentage: 0, minOnDemand: 2 },
      window: null,
      fallbackAfterMs: 120_000,
      paused: false,
    });
  });

  it('takes each key from the workload, then the Namespace, then the configuration', () => {
    const reading = valid({
      workload: { [key.spotPercentage]: '10' },
      namespace: { [key.spotPercentage]: '20', [key.minOnDemand]: '2' },
      defaults: { spotPercentage: '30', minOnDemand: '3', paused: 'true', spotFallbackAfter: 'never' },
    });
    expect(reading).toMatchObject({
      numbers: { spotPercentage: 10, minOnDemand: 2 },
      paused: true,
      fallbackAfterMs: 'never',
    });
  });

  it('takes schedule and duration from one place', () => {
    const reading = valid({
      workload: { [key.spotPercentage]: '70' },
      namespace: { [key.disruptionSchedule]: '0 4 * * *', [key.disruptionDuration]: '1h' },
      defaults: { disruptionSchedule: '0 22 * * *', disruptionDuration: '9h' },
    });
    expect(reading.window).toEqual({
      schedule: { pattern: '0 4 * * *', timeZone: 'UTC' },
      durationMs: 3_600_000,
    });
  });

  it('sends every new pod to on-demand when a number is invalid', () => {
    const reading = readPolicy(
      sources({ workload: { [key.spotPercentage]: '70', [key.minOnDemand]: 'two' } }),
    );
    if (reading.kind !== 'invalid') throw new Error(reading.kind);
    for (const replicas of [1, 10, 1_000]) expect(targetSpot(reading.numbers, replicas)).toBe(0);
  });

  it('keeps its numbers when only the window is invalid', () => {
    const reading = readPolicy(
      sources({ workload: { [key.spotPercentage]: '70', [key.disruptionDuration]: '4h' } }),
    );
    expect(reading).toMatchObject({ kind: 'frozen', numbers: { spotPercentage: 70, minOnDemand: 0 } });
  });

  it('is never anything but a reading, whatever the text', () => {
    const field = fc.constantFrom(...Object.values(key));
    fc.assert(
      fc.property(fc.dictionary(field, fc.string({ unit: 'binary' })), (workload) => {
        const reading = readPolicy(sources({ workload }));
        expect(reading.problems.length === 0).toBe(reading.kind === 'valid');
      }),
      propertyRuns,
    );
  });
});

describe('a problem', () => {
  it('names key, value, place and a valid example', () => {
    expect(first({ workload: { [key.spotPercentage]: 'most' } })).toEqual({
      code: 'InvalidNumber',
      key: 'spotalis.io/spot-percentage',
      value: 'most',
      where: 'workload',
      nearestKey: null,
      message:
        'spotalis.io/spot-percentage: "most" on the workload is not an integer from 0 to 100. Example: spotalis.io/spot-percentage: "70"',
    });
  });

  it('shows no more than the beginning of a long value', () => {
    const problem = first({ workload: { [key.spotPercentage]: '9'.repeat(100_000) } });
    expect(problem?.message.length).toBeLessThan(255);
  });

  it.each([
    ['spot-percent', 'spot-percentage'],
    ['spotPercentage', 'spot-percentage'],
    ['spot_percentage', 'spot-percentage'],
    ['min-ondemand', 'min-on-demand'],
    ['mininum-on-demand', 'min-on-demand'],
    ['schedule', 'disruption-schedule'],
    ['disruption-durations', 'disruption-duration'],
    ['fallback-after', 'spot-fallback-after'],
    ['pause', 'paused'],
  ])('of the unknown key %s suggests %s', (typo, meant) => {
    const problem = first({ workload: { [key.spotPercentage]: '1', [`spotalis.io/${typo}`]: 'x' } });
    expect(problem?.nearestKey).toBe(`spotalis.io/${meant}`);
    expect(problem?.message).toContain(`Did you mean spotalis.io/${meant}?`);
  });

  it.each(['replica-strategy', 'max-replicas', 'x', 'z'.repeat(1_000)])('of %s suggests nothing', (name) => {
    const problem = first({ workload: { [key.spotPercentage]: '1', [`spotalis.io/${name}`]: 'x' } });
    expect(problem).toMatchObject({ code: 'UnknownKey', nearestKey: null });
  });

  it('of an opt-in annotation says that it is a label', () => {
    const problem = first({ workload: { [key.spotPercentage]: '1', 'spotalis.io/enabled': 'true' } });
    expect(problem?.message).toContain('Set it as a label');
  });

  it('of a Namespace is found whether or not a workload relies on it', () => {
    const problems = namespaceProblems({
      [key.spotPercentage]: 'most',
      [key.disruptionDuration]: '4h',
      'spotalis.io/pause': 'true',
    });
    expect(problems.map(({ code, where }) => `${code} ${where}`)).toEqual([
      'InvalidNumber namespace',
      'MissingSchedule namespace',
      'UnknownKey namespace',
    ]);
    expect(namespaceProblems({})).toEqual([]);
  });

  it('of the configuration names the path of the key', () => {
    expect(readPolicy(sources({ defaults: { minOnDemand: '-1' } }))).toMatchObject({
      kind: 'invalid',
      problems: [{ key: 'defaults.minOnDemand', where: 'configuration' }],
    });
  });
});
