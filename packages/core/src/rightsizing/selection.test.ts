import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { OptimizationSpec } from './optimization-policy.ts';
import { isInScope, isSelected, policyFor, type Selectable, type Selector } from './selection.ts';

const home = 'spotalis';
const namespaceNames = ['shop', 'bank', home];
const kinds = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;

const workloads: fc.Arbitrary<Selectable> = fc.record({
  kind: fc.constantFrom(...kinds),
  namespace: fc.constantFrom(...namespaceNames),
  namespaceLabels: fc.record({ environment: fc.constantFrom('production', 'test') }),
  workloadLabels: fc.record({ optimize: fc.constantFrom('true', 'false') }),
});

const selectors: fc.Arbitrary<OptimizationSpec['selector']> = fc.record(
  {
    namespaceSelector: fc.constant({ matchLabels: { environment: 'production' } }),
    workloadSelector: fc.constant({ matchLabels: { optimize: 'true' } }),
    namespaces: fc.record({
      allow: fc.subarray(namespaceNames),
      deny: fc.subarray(namespaceNames, { maxLength: 1 }),
    }),
    workloadTypes: fc.record({
      include: fc.subarray([...kinds]),
      exclude: fc.subarray([...kinds], { maxLength: 1 }),
    }),
  },
  { requiredKeys: [] },
);

const policies: fc.Arbitrary<readonly Selector[]> = fc.uniqueArray(
  fc.record({
    namespace: fc.constantFrom(...namespaceNames),
    name: fc.constantFrom('a', 'b'),
    spec: fc.record({
      mode: fc.constantFrom('Auto', 'Recommend', 'Disabled'),
      weight: fc.constantFrom(50, 100),
      selector: selectors,
    }),
  }),
  { selector: ({ namespace, name }) => `${namespace}/${name}`, maxLength: 6 },
);

describe('the selection of workloads', () => {
  it('Property 16: finds every workload that all parts of a selector match', () => {
    fc.assert(
      fc.property(selectors, workloads, (selector, workload) => {
        const { namespaceSelector, workloadSelector, namespaces, workloadTypes } = selector;
        const lists = (list: readonly string[] | undefined, value: string) =>
          list === undefined || list.length === 0 || list.includes(value);
        const expected =
          (namespaceSelector === undefined || workload.namespaceLabels['environment'] === 'production') &&
          (workloadSelector === undefined || workload.workloadLabels['optimize'] === 'true') &&
          lists(namespaces?.allow, workload.namespace) &&
          lists(workloadTypes?.include, workload.kind) &&
          namespaces?.deny?.includes(workload.namespace) !== true &&
          workloadTypes?.exclude?.includes(workload.kind) !== true;
        expect(isSelected(selector, workload)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('Property 27: denied and excluded win, and no policy acts on the namespace of another tenant', () => {
    fc.assert(
      fc.property(policies, workloads, (all, workload) => {
        const { acting, others } = policyFor(all, workload, home);
        const { deny = [] } = acting?.spec.selector.namespaces ?? {};
        const { exclude = [] } = acting?.spec.selector.workloadTypes ?? {};
        expect(deny).not.toContain(workload.namespace);
        expect(exclude).not.toContain(workload.kind);
        if (acting !== null) expect([home, workload.namespace]).toContain(acting.namespace);
        for (const { policy, reason } of others)
          expect(reason === 'ForeignNamespace').toBe(
            policy.namespace !== home && policy.namespace !== workload.namespace,
          );
      }),
      { numRuns: 500 },
    );
  });

  it('has one policy act, whatever their order: the heaviest, then the first by name', () => {
    fc.assert(
      fc.property(policies, workloads, (all, workload) => {
        const { acting, others } = policyFor(all, workload, home);
        expect(policyFor(all.toReversed(), workload, home).acting).toEqual(acting);
        for (const { policy, reason } of others) {
          if (reason !== 'ConflictingPolicy' || acting === null) continue;
          const isLighter = policy.spec.weight < acting.spec.weight;
          const isLater = `${policy.namespace}/${policy.name}` > `${acting.namespace}/${acting.name}`;
          expect(isLighter || (policy.spec.weight === acting.spec.weight && isLater)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('leaves a workload to others where a policy is Disabled', () => {
    const workload: Selectable = {
      kind: 'Deployment',
      namespace: 'shop',
      namespaceLabels: {},
      workloadLabels: {},
    };
    const policy = (name: string, mode: 'Auto' | 'Disabled', weight: number): Selector => ({
      namespace: 'shop',
      name,
      spec: { mode, weight, selector: { workloadSelector: {} } },
    });
    const { acting, others } = policyFor(
      [policy('a', 'Disabled', 900), policy('b', 'Auto', 1)],
      workload,
      home,
    );
    expect(acting?.name).toBe('b');
    expect(others.map(({ reason }) => reason)).toEqual(['Disabled']);
  });

  it('needs no label, and keeps to the scope', () => {
    const scope = { namespaces: [], excludedNamespaces: ['kube-system'], namespaceSelector: {} };
    const workload: Selectable = {
      kind: 'DaemonSet',
      namespace: 'shop',
      namespaceLabels: {},
      workloadLabels: {},
    };
    expect(isInScope(workload, scope)).toBe(true);
    expect(isInScope({ ...workload, namespace: 'kube-system' }, scope)).toBe(false);
    expect(isInScope(workload, { ...scope, namespaces: ['bank'] })).toBe(false);
  });
});
