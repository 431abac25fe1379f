import { describe, expect, it } from '@jest/globals';
import { managed, type ManagedSubject } from './managed.ts';
import type { LabelRequirement } from './selector.ts';
import type { Scope } from './settings.ts';

const enabled = { 'spotalis.io/enabled': 'true' };
const scope: Scope = {
  namespaces: [],
  namespaceSelector: {},
  excludedNamespaces: ['kube-system'],
};
const subject: ManagedSubject = { namespace: 'shop', namespaceLabels: enabled, workloadLabels: enabled };
const reasonOf = (changes: Partial<ManagedSubject>, within = scope) => {
  const answer = managed({ ...subject, ...changes }, within);
  return answer.managed ? 'managed' : answer.reason;
};

describe('a workload', () => {
  it('is managed when it and its Namespace carry the label', () => {
    expect(managed(subject, scope)).toEqual({ managed: true });
  });

  it('is not managed when either label is missing, and says which', () => {
    expect(reasonOf({ workloadLabels: {} })).toBe('WorkloadNotLabelled');
    expect(reasonOf({ namespaceLabels: {} })).toBe('NamespaceNotLabelled');
    expect(reasonOf({ namespaceLabels: {}, workloadLabels: {} })).toBe('NotLabelled');
  });

  it.each(['True', 'TRUE', '1', 'yes', '', ' true', 'false'])('is not opted in by the value %j', (value) => {
    expect(reasonOf({ workloadLabels: { 'spotalis.io/enabled': value } })).toBe('WorkloadNotLabelled');
    expect(reasonOf({ namespaceLabels: { 'spotalis.io/enabled': value } })).toBe('NamespaceNotLabelled');
  });

  it('is not managed in an excluded namespace', () => {
    expect(reasonOf({ namespace: 'kube-system' })).toBe('NamespaceExcluded');
  });

  it('is managed in a listed namespace only, where any is listed', () => {
    const within = { ...scope, namespaces: ['shop', 'bank', 'kube-system'] };
    expect(reasonOf({}, within)).toBe('managed');
    expect(reasonOf({ namespace: 'sho' }, within)).toBe('NamespaceNotListed');
    expect(reasonOf({ namespace: 'kube-system' }, within)).toBe('NamespaceExcluded');
    expect(reasonOf({ namespaceLabels: {} }, within)).toBe('NamespaceNotLabelled');
  });

  it('is not managed where matchLabels do not select the Namespace', () => {
    const within = { ...scope, namespaceSelector: { matchLabels: { team: 'shop', tier: 'web' } } };
    expect(reasonOf({ namespaceLabels: { ...enabled, team: 'shop', tier: 'web' } }, within)).toBe('managed');
    expect(reasonOf({ namespaceLabels: { ...enabled, team: 'shop' } }, within)).toBe('NamespaceNotSelected');
  });

  it.each<[LabelRequirement, Record<string, string>, boolean]>([
    [{ key: 'env', operator: 'In', values: ['dev', 'test'] }, { env: 'dev' }, true],
    [{ key: 'env', operator: 'In', values: ['dev', 'test'] }, { env: 'prod' }, false],
    [{ key: 'env', operator: 'In', values: ['dev', 'test'] }, {}, false],
    [{ key: 'env', operator: 'NotIn', values: ['prod'] }, { env: 'dev' }, true],
    [{ key: 'env', operator: 'NotIn', values: ['prod'] }, { env: 'prod' }, false],
    [{ key: 'env', operator: 'NotIn', values: ['prod'] }, {}, true],
    [{ key: 'env', operator: 'Exists' }, { env: '' }, true],
    [{ key: 'env', operator: 'Exists' }, {}, false],
    [{ key: 'env', operator: 'DoesNotExist' }, {}, true],
    [{ key: 'env', operator: 'DoesNotExist' }, { env: 'dev' }, false],
  ])('in a scope of %j with %j is selected: %s', (requirement, labels, selected) => {
    const within = { ...scope, namespaceSelector: { matchExpressions: [requirement] } };
    const expected = selected ? 'managed' : 'NamespaceNotSelected';
    expect(reasonOf({ namespaceLabels: { ...enabled, ...labels } }, within)).toBe(expected);
  });

  it('must meet all expressions at once', () => {
    const matchExpressions: LabelRequirement[] = [
      { key: 'env', operator: 'Exists' },
      { key: 'env', operator: 'NotIn', values: ['prod'] },
    ];
    const within = { ...scope, namespaceSelector: { matchExpressions } };
    expect(reasonOf({ namespaceLabels: { ...enabled, env: 'prod' } }, within)).toBe('NamespaceNotSelected');
    expect(reasonOf({ namespaceLabels: { ...enabled, env: 'dev' } }, within)).toBe('managed');
  });
});
