import * as fc from 'fast-check';
import type { NodeLabels } from '../capacity/labels.ts';
import { readNodeLabels } from '../capacity/labels.ts';
import { type NodeRequirement, type PodSpecView, requiredTerms } from '../cluster/pod-spec.ts';
import type { Labels } from '../policy/keys.ts';
import { meets } from '../policy/selector.ts';

export function nodeLabelsOf(spot: string | string[], onDemand: string | string[]): NodeLabels {
  const reading = readNodeLabels({ spot, onDemand });
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.labels;
}

function meetsAll(labels: Labels, requirements: readonly NodeRequirement[]): boolean {
  return requirements.every(({ key, operator, values }) => {
    if (operator === 'Gt' || operator === 'Lt') throw new Error('not modelled');
    return meets(labels[key], operator, values ?? []);
  });
}

/** As the scheduler has it: every entry of the selector, and one of the required terms, if there are any. */
export function schedulerAccepts(spec: PodSpecView, labels: Labels): boolean {
  if (Object.entries(spec.nodeSelector ?? {}).some(([key, value]) => labels[key] !== value)) return false;
  const terms = requiredTerms(spec);
  return (
    terms.length === 0 ||
    terms.some(
      ({ matchExpressions }) =>
        (matchExpressions ?? []).length > 0 && meetsAll(labels, matchExpressions ?? []),
    )
  );
}

/** Small on purpose: two capacity keys and one other, so that everything meets everything. */
const values: Readonly<Record<string, readonly string[]>> = {
  a: ['s', 'o', 'x'],
  b: ['s', 'o'],
  disk: ['ssd', 'hdd'],
};

/** Every node that these keys can make, with one value that no one mentions: 5 * 4 * 4. */
export const everyNode: readonly Labels[] = Object.entries(values).reduce<Labels[]>(
  (nodes, [key, texts]) =>
    nodes.concat([...texts, 'other'].flatMap((text) => nodes.map((labels) => ({ ...labels, [key]: text })))),
  [{}],
);

/** Configurations over the same keys, of every shape that is allowed. */
export const nodeLabelSets: fc.Arbitrary<NodeLabels> = fc
  .constantFrom<readonly [string | string[], string | string[]]>(
    ['a=s', 'a=o'],
    ['a=s', '!a'],
    ['a=s', 'a!=s'],
    ['a!=o', 'a=o'],
    ['a=s', 'b=o'],
    [
      ['a=s', 'b=s'],
      ['a=o', 'b=o'],
    ],
    [['a=s', 'a=x'], 'a=o'],
    [
      ['a=s', 'b=s'],
      ['a=o', '!b'],
    ],
    [
      ['a=s', 'b=s'],
      ['!a', '!b'],
    ],
    [
      ['a=s', 'b=s'],
      ['b!=s', 'a!=s'],
    ],
    [['!a', 'b=s'], 'a=o'],
  )
  .map(([spot, onDemand]) => nodeLabelsOf(spot, onDemand));

const keys = fc.constantFrom('a', 'b', 'disk');
const requirement: fc.Arbitrary<NodeRequirement> = keys.chain((key) =>
  fc.oneof(
    fc.record({
      key: fc.constant(key),
      operator: fc.constantFrom('In' as const, 'NotIn' as const),
      values: fc.uniqueArray(fc.constantFrom(...(values[key] ?? [])), { minLength: 1 }),
    }),
    fc.record({
      key: fc.constant(key),
      operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const),
    }),
  ),
);

const terms = fc.array(fc.record({ matchExpressions: fc.array(requirement, { maxLength: 3 }) }), {
  minLength: 1,
  maxLength: 3,
});

/** Templates with every kind of constraint on the same keys, or none. */
export const podSpecs: fc.Arbitrary<PodSpecView> = fc.record(
  {
    nodeSelector: fc.record(
      {
        a: fc.constantFrom('s', 'o', 'x'),
        b: fc.constantFrom('s', 'o'),
        disk: fc.constantFrom('ssd', 'hdd'),
      },
      { requiredKeys: [] },
    ),
    affinity: fc.option(
      fc.record({
        nodeAffinity: terms.map((nodeSelectorTerms) => ({
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
        })),
      }),
    ),
  },
  { requiredKeys: [] },
);
