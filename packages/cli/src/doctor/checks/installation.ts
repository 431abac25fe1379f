import { enabledLabel, selects } from '@spotalis/core';
import type { Check, Finding } from '../finding.ts';
import type { ServiceDeployment } from '../picture/picture.ts';

/** Nothing of it is there. */
export const isInstalled: Check = ({ installation }) => {
  const { registrations, deployments, configurations, lease } = installation;
  const isThere =
    registrations === null ||
    registrations.length > 0 ||
    deployments.length > 0 ||
    configurations.length > 0 ||
    lease.kind === 'found';
  if (isThere) return [];
  return [
    {
      id: 'installation-missing',
      severity: 'error',
      object: 'the cluster',
      what: 'nothing of an installation is there: no registration, no Deployment, no configuration, no Lease',
      why: 'no pod is steered and none is moved, whatever the annotations say',
      remedy: 'install it: docs/install.md',
    },
  ];
};

/** Two of them would steer the same pods. */
export const isAlone: Check = ({ survey, installation }) => {
  const registrations = installation.registrations ?? [];
  const namespaces = survey.objects.namespaces.filter(({ labels }) => labels[enabledLabel] === 'true');
  return registrations.flatMap((one, index) =>
    registrations.slice(index + 1).flatMap((other): Finding[] => {
      const shared = namespaces.find(
        ({ labels }) => selects(one.namespaceSelector, labels) && selects(other.namespaceSelector, labels),
      );
      if (shared === undefined) return [];
      return [
        {
          id: 'installations-overlap',
          severity: 'error',
          object: `MutatingWebhookConfiguration ${other.name}`,
          what: `it is asked about namespace ${shared.metadata.name}, and so is ${one.name}`,
          why: 'each installation counts for itself, and the last to answer decides: shares and floors are wrong',
          remedy: `take one away, or divide the namespaces between them by scope.namespaceSelector or scope.namespaces: docs/install.md`,
        },
      ];
    }),
  );
};

const lacks: Readonly<Record<ServiceDeployment['service'], string>> = {
  webhook: 'the next one to go leaves fewer still, and with none pods are created unsteered',
  controller: 'with none nothing is repaired, and no lack of capacity is bridged',
  redis:
    'without it webhooks decide alone: the floor holds, shares may be some pods off, and nothing is moved',
};

/** Fewer replicas are ready than were asked for. */
export const hasReplicas: Check = ({ installation }) =>
  installation.deployments
    .filter(({ replicas, readyReplicas }) => replicas === 0 || readyReplicas < replicas)
    .map(({ service, namespace, name, replicas, readyReplicas }) => ({
      id: 'replicas-missing',
      severity: readyReplicas === 0 ? 'error' : 'warning',
      object: `Deployment ${namespace}/${name}`,
      what: `${readyReplicas} of ${replicas} replicas of the ${service} are ready`,
      why: lacks[service],
      remedy: `kubectl -n ${namespace} describe pods -l app.kubernetes.io/name=spotalis,app.kubernetes.io/component=${service}`,
    }));

/** The tag, or with a digest what the label says. */
const versionOf = (image: string, label: string): string =>
  image.includes('@') ? label : image.slice(image.lastIndexOf('/') + 1).replace(/^[^:]*:?/, '') || 'latest';

/** Webhook and controller of one release share a ledger, so they have to be of one version. */
export const isOfOneVersion: Check = ({ installation: { deployments } }) =>
  deployments
    .filter(({ service }) => service === 'webhook')
    .flatMap((webhook): Finding[] => {
      const controller = deployments.find(
        ({ service, namespace, instance }) =>
          service === 'controller' && namespace === webhook.namespace && instance === webhook.instance,
      );
      if (controller === undefined) return [];
      const versions = [webhook, controller].map(({ image, version }) => versionOf(image, version));
      if (versions[0] === versions[1]) return [];
      return [
        {
          id: 'version-skew',
          severity: 'warning',
          object: `Deployment ${controller.namespace}/${controller.name}`,
          what: `the controller is of version ${versions[1]}, the webhook of ${versions[0]}`,
          why: 'the two share a ledger and rules: only for the minutes of an upgrade may they differ',
          remedy: 'upgrade both to one version: docs/install.md, "Upgrading, going back, leaving"',
        },
      ];
    });
