import type { Check, Finding } from '../finding.ts';

export const isReadable: Check = ({ installation: { configurations } }) =>
  configurations.flatMap(({ origin, reading }): Finding[] =>
    reading.ok
      ? []
      : [
          {
            id: 'configuration-invalid',
            severity: 'error',
            object: origin,
            what: reading.problems.map(({ key, message }) => `${key}: ${message}`).join('; '),
            why: 'running services keep to the one before, and none can start with this one',
            remedy: 'docs/runbooks.md#spotalisconfigurationrejected',
          },
        ],
  );

export const listsThoseThere: Check = ({ survey: { settings, objects } }) => {
  const present = new Set(objects.namespaces.map(({ metadata }) => metadata.name));
  return settings.values.scope.namespaces
    .filter((name) => !present.has(name))
    .map((name) => ({
      id: 'namespace-missing',
      severity: 'warning',
      object: settings.origin,
      what: `scope.namespaces lists ${name}, and there is no such namespace, or it may not be read`,
      why: 'nothing is managed there, and the services go on asking for what is in it',
      remedy: `take ${name} off the list, or make the namespace and apply the roles of the chart anew (helm upgrade): docs/install.md`,
    }));
};

/** A ledger inside one webhook says nothing to another. */
export const sharesLedger: Check = ({ survey, installation: { deployments } }) => {
  const { redis } = survey.settings.values;
  if (!redis.url?.startsWith('memory:') || survey.settings.assumed) return [];
  return deployments
    .filter(({ service, replicas }) => service === 'webhook' && replicas > 1)
    .map(({ namespace, name, replicas }) => ({
      id: 'ledger-not-shared',
      severity: 'error',
      object: `Deployment ${namespace}/${name}`,
      what: `${replicas} webhooks are to run, and redis.url is ${redis.url}: each has a ledger of its own`,
      why: 'they decide without knowing of each other, so bursts are split wrongly',
      remedy: `set redis.url to a Redis (docs/redis.md), or: kubectl -n ${namespace} scale deployment/${name} --replicas 1`,
    }));
};

export const isOn: Check = ({ survey: { settings } }) =>
  settings.values.modules.distribution.enabled
    ? []
    : [
        {
          id: 'distribution-off',
          severity: 'warning',
          object: settings.origin,
          what: 'modules.distribution.enabled is false',
          why: 'no pod is steered or moved, whatever its workload asks for',
          remedy:
            'set it to true by helm upgrade, which brings the rights that it needs: docs/custom-resources.md',
        },
      ];

export const mayWrite: Check = ({ survey: { settings } }) =>
  settings.rebalance.readOnly
    ? [
        {
          id: 'read-only',
          severity: 'warning',
          object: settings.origin,
          what: 'readOnlyMode is on',
          why: 'decisions are made and told, and nothing is done: no pod is steered or moved',
          remedy: 'set readOnlyMode to false once what it tells is what you want: docs/configuration.md',
        },
      ]
    : [];
