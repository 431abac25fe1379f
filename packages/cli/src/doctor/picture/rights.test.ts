import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { ruleFiles } from './rights.ts';

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
});
