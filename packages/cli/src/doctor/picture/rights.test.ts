import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { settings } from '@spotalis/core';
import { loadConfiguration } from '@spotalis/runtime';
import { missingRights, ruleFiles } from './rights.ts';

interface Granted {
  readonly apiGroups: readonly [string];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly [string];
  readonly verbs: readonly string[];
}

const charts = new URL('../../../../../charts/spotalis/charts/', import.meta.url);

describe('the rights that the doctor asks for', () => {
  it.each(ruleFiles)('are those that the chart grants: $service/$file', ({ service, file, rules }) => {
    const text = readFileSync(new URL(`${service}/rbac/${file}.yaml`, charts), 'utf8');
    const granted: readonly Granted[] = parse(text);
    expect(rules).toEqual(
      granted.map(({ apiGroups: [group], resources, resourceNames, verbs }) => ({
        group,
        resources,
        ...(resourceNames && { name: resourceNames[0] }),
        verbs,
      })),
    );
  });

  it.each([
    ['', [undefined], []],
    ['scope: { namespaces: [shop, bank] }', ['shop', 'bank'], ['spotalis-system']],
  ])('are asked for where workloads are: with %j in %j', async (scope, inside, athome) => {
    const { values } = await loadConfiguration(settings, {
      file: 'spotalis.yaml',
      text: `redis: { url: "redis://redis:6379" }\n${scope}`,
      environment: {},
    });
    const client = { create: () => Promise.resolve({ status: { allowed: false } }) };
    const account = {
      service: 'controller',
      namespace: 'spotalis-system',
      name: 'spotalis-controller',
    } as const;
    const missing = await missingRights(client as never, [account], values);
    const placesOf = (right: string) =>
      missing.filter(({ what }) => what === right).map(({ namespace }) => namespace);
    expect(placesOf('create pods/eviction')).toEqual(inside);
    expect(placesOf('watch pods')).toEqual([...inside, ...athome]);
    expect(placesOf('watch nodes')).toEqual([undefined]);
    expect(placesOf('create pods')).toEqual(['spotalis-system']);
  });

  it('are not asked for where their module is off', async () => {
    const { values } = await loadConfiguration(settings, {
      file: 'spotalis.yaml',
      text: 'redis: { url: "redis://redis:6379" }\nmodules: { distribution: { enabled: false } }',
      environment: {},
    });
    const client = { create: () => Promise.resolve({ status: { allowed: false } }) };
    const account = {
      service: 'controller',
      namespace: 'spotalis-system',
      name: 'spotalis-controller',
    } as const;
    const missing = await missingRights(client as never, [account], values);
    const whats = missing.map(({ what }) => what);
    expect(whats).toContain('watch pods');
    expect(whats).not.toContain('create pods/eviction');
  });
});
