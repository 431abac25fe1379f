import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../testing/arbitraries.ts';
import { toyCases } from '../testing/toy-cases.ts';
import { specsOf } from '../testing/specs.ts';
import { toy } from '../testing/toy.ts';
import type { LabelSelector } from '../policy/selector.ts';
import type { Duration, Percentage, Quantity } from './amount.ts';
import { apiVersion } from './definition.ts';
import { readSpec, readStatus } from './parse.ts';

const objectOf = (spec: unknown) => ({ apiVersion: apiVersion, kind: toy.kind, metadata: {}, spec });
const read = (spec: unknown) => readSpec(toy, objectOf(spec));
const least = { bounds: { cpu: { min: '100m', max: '2' } } };
const messagesOf = (spec: object) => read({ ...least, ...spec }).problems.map(({ message }) => message);

describe('the parser of a custom resource', () => {
  it.each(toyCases)('finds what is wrong: $name', ({ spec, problem }) => {
    const { problems } = read(spec);
    expect(problems.map(({ code, field }) => ({ code, field }))).toEqual(problem === null ? [] : [problem]);
  });

  it('gives what is absent its default, and has its types from the definition', () => {
    const { value } = read(least);
    if (value === null) throw new Error('refused');
    const mode: 'Observe' | 'Auto' | 'Off' = value.mode;
    const window: Duration = value.window;
    const min: Quantity = value.bounds.cpu.min;
    const maxConcurrent: number | Percentage = value.maxConcurrent;
    const terms: readonly string[] = value.searchTerms;
    const namespace: string | undefined = value.namespace;
    const selector: LabelSelector | undefined = value.nodeSelector;
    expect(selector).toBeUndefined();
    // @ts-expect-error -- no default, and not required: it may be absent
    const title: string = value.title;
    // @ts-expect-error -- the definition has no such field
    expect(value.unheardOf).toBeUndefined();
    expect({ mode, window, min, maxConcurrent, terms, namespace, title }).toEqual({
      mode: 'Observe',
      window: '10m',
      min: '100m',
      maxConcurrent: 1,
      terms: [],
      namespace: undefined,
      title: undefined,
    });
    expect(value.drain).toEqual({ timeout: '15m', forceAfter: '0s', surge: false });
  });

  it.each<[object, string]>([
    [{ weight: 5000 }, 'spec.weight: 5000 is not an integer from 1 to 1000. Example: 100'],
    [{ window: '2m' }, 'spec.window: "2m" is not a duration from 6m to 1h. Example: "30m"'],
    [{ maxLimit: '65Gi' }, 'spec.maxLimit: "65Gi" is not a quantity of at most 64Gi. Example: "8Gi"'],
    [
      { drain: { forceAfter: '20m' } },
      'spec.drain.forceAfter: "20m" is not at most timeout, which is "15m". Example: "5m"',
    ],
    [
      { drain: { timeout: '5m', surge: true }, maxLimit: 1 },
      'spec.drain.timeout: "5m" is not at least 10m while surge is true. Example: "10m"',
    ],
    [
      { schedule: '* * * * *' },
      'spec: only one of schedule and length is set. Example: schedule: 0 22 * * *, length: 4h',
    ],
    [{ mode: 'Off', namespace: 'shop' }, 'spec: namespace is set while mode is "Off". Remove namespace'],
    [
      { matchers: [{ name: 'one' }] },
      'spec.matchers[0]: none of reason, message is set. Example: reason: FailedMount',
    ],
    [{ searchTerms: ['a', 'a'] }, 'spec.searchTerms[1]: "a" is in the list twice. Remove one of the two'],
    [{ bounds: { cpu: { min: '1' } } }, 'spec.bounds.cpu.max: required, and not set. Example: "2"'],
    [{ wieght: 1 }, 'spec.wieght: this version has no such field. Did you mean weight?'],
    [{ mode: 'Later' }, 'spec.mode: "Later" is not one of "Observe", "Auto", "Off". Example: "Observe"'],
    [
      { title: 'long '.repeat(100) },
      `spec.title: "${'long '.repeat(12)}..." is not a text of 1 to 20 characters. Example: "night shift"`,
    ],
  ])('names field, value and a valid example: %j', (spec, message) => {
    expect(messagesOf(spec)).toEqual([message]);
  });

  it.each<[string, unknown, string]>([
    ['a field that is not known', objectOf({ ...least, unheardOf: {} }), 'newer'],
    ['a word that is not known', objectOf({ ...least, mode: 'Later' }), 'newer'],
    ['a field in a part', objectOf({ ...least, drain: { unheardOf: 1 } }), 'newer'],
    ['a field beside the spec', { ...objectOf(least), scale: {} }, 'newer'],
    ['something new and something wrong', objectOf({ ...least, weight: 0, unheardOf: {} }), 'newer'],
    ['another version', { ...objectOf(least), apiVersion: 'spotalis.io/v1' }, 'newer'],
    ['something wrong', objectOf({ ...least, weight: 0 }), 'invalid'],
    ['another kind', { ...objectOf(least), kind: 'Pod' }, 'invalid'],
    ['another group', { ...objectOf(least), apiVersion: 'example.com/v1alpha1' }, 'invalid'],
    ['no object', 'web', 'invalid'],
    ['nothing new or wrong', objectOf(least), 'valid'],
  ])('takes an object with %s for what it is', (_, object, kind) => {
    expect(readSpec(toy, object).kind).toBe(kind);
  });

  it('says that an object is newer, however much is wrong with it besides', () => {
    const faults = Array.from({ length: 16 }, () => ({ name: 7, reason: 7, message: 7, kinds: 7 }));
    const { kind, problems } = read({ ...least, matchers: faults, zzz: 1 });
    expect(kind).toBe('newer');
    expect(problems.length).toBeLessThanOrEqual(21);
    expect(problems.map(({ code }) => code)).toContain('UnknownField');
  });

  it('reads a status in the same way', () => {
    const status = { nodes: 3, lastCheckTime: '2026-01-01T00:00:00Z' };
    expect(readStatus(toy, { ...objectOf(least), status })).toMatchObject({ kind: 'valid', value: status });
    expect(readStatus(toy, objectOf(least))).toMatchObject({ kind: 'valid', value: {} });
    expect(readStatus(toy, { ...objectOf(least), status: { nodes: -1 } })).toMatchObject({ kind: 'invalid' });
  });

  it('never throws, whatever it is given', () => {
    const anything = fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true });
    fc.assert(
      fc.property(fc.oneof(anything, anything.map(objectOf), specsOf(toy).map(objectOf)), (object) => {
        const { kind, problems } = readSpec(toy, object);
        expect(kind === 'valid').toBe(problems.length === 0);
        for (const { field, message } of problems) {
          expect(message.startsWith(`${field}: `)).toBe(true);
          expect(message.length).toBeLessThan(1024);
        }
        readStatus(toy, object);
      }),
      propertyRuns,
    );
  });

  it('has nothing to add to what it has read', () => {
    fc.assert(
      fc.property(specsOf(toy), (spec) => {
        const { value } = read(spec);
        if (value !== null) expect(read(value)).toEqual({ kind: 'valid', value, problems: [] });
      }),
      propertyRuns,
    );
  });

  it('looks at each part of a large object once', () => {
    const looksAt = (size: number) => {
      let looks = 0;
      const counted = <T extends object>(target: T): T =>
        new Proxy(target, {
          get(inner, name, receiver) {
            looks++;
            return Reflect.get(inner, name, receiver);
          },
          getOwnPropertyDescriptor(inner, name) {
            looks++;
            return Reflect.getOwnPropertyDescriptor(inner, name);
          },
        });
      const unknown = Object.fromEntries(
        Array.from({ length: size }, (_, index) => [`field-${index}`, index]),
      );
      const list = counted(Array.from({ length: size }, () => 'x'));
      read(counted({ ...least, ...unknown, searchTerms: list, matchers: list, weights: counted(unknown) }));
      return looks;
    };
    const one = looksAt(1_000);
    expect(looksAt(10_000)).toBeLessThanOrEqual(10 * one);
  });
});
