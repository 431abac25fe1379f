import { declare, type SettingGroup, type SettingRule, type ValuesOf } from '@spotalis/units';
import { labelSelector } from './written-selector.ts';

const settings = {
  scope: {
    namespaces: {
      // A label of DNS, as the API server demands.
      format: 'list',
      pattern: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
      what: 'a list of names of namespaces',
      example: '[shop, bank]',
      default: [],
      doc: 'Exactly the namespaces that may be managed, and nothing is asked about any other. Empty: all of them.',
    },
    namespaceSelector: {
      ...labelSelector,
      default: {},
      doc: 'Namespaces that may be managed, on top of the opt-in label. Empty: all of them.',
      aliases: ['controller.namespaceSelector'],
    },
    excludedNamespaces: {
      format: 'list',
      what: 'a list of namespaces',
      example: '[kube-system]',
      default: ['kube-system', 'kube-public', 'kube-node-lease'],
      doc: 'Namespaces that are never managed, whatever their labels say.',
    },
  },
} as const satisfies SettingGroup;

/** Which namespaces this installation looks at, on top of the opt-in label. */
export type Scope = ValuesOf<typeof settings>['scope'];

const listedIsNotExcluded: SettingRule<typeof settings> = ({ scope: { namespaces, excludedNamespaces } }) => {
  const both = namespaces.filter((name) => excludedNamespaces.includes(name));
  if (both.length === 0) return [];
  const message = `${JSON.stringify(both)} cannot be managed, being in scope.excludedNamespaces; list others, for example [shop, bank]`;
  return [{ key: 'scope.namespaces', message }];
};

export const policySettings = declare(settings, [listedIsNotExcluded]);
