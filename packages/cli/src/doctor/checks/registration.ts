import { enabledLabel, managed, selects } from '@spotalis/core';
import { ownAmong } from '../../cluster/registration.ts';
import type { Check, Finding } from '../finding.ts';
import type { Picture, Registration } from '../picture/picture.ts';

/** Time for an answer to travel, which the deadline of a decision has to leave. */
const MARGIN_MS = 300;
/** Longer than this nobody should wait for a pod while the webhook hangs. The chart sets 2. */
const LONGEST_TIMEOUT_SECONDS = 5;

const object = ({ name }: Pick<Registration, 'name'>): string => `MutatingWebhookConfiguration ${name}`;
const restore = 'apply the registration of the chart anew (helm upgrade): docs/install.md';

/** Null: it is not there; undefined: it cannot be told. */
export function ownRegistration({ survey, installation }: Picture): Registration | null | undefined {
  const { registrations } = installation;
  return registrations === null ? undefined : ownAmong(registrations, ({ name }) => name, survey.settings);
}

const own =
  (check: (registration: Registration, picture: Picture) => readonly Finding[]): Check =>
  (picture) => {
    const registration = ownRegistration(picture);
    return registration ? check(registration, picture) : [];
  };

export const isRegistered: Check = (picture) => {
  if (ownRegistration(picture) !== null) return [];
  const name = picture.survey.settings.values.webhook.configurationName;
  return [
    {
      id: 'registration-missing',
      severity: 'error',
      object: object({ name }),
      what: 'it is not there, or has no webhook pods.spotalis.io',
      why: 'the API server asks nobody, so pods are created unsteered; nothing is moved meanwhile',
      remedy: 'docs/runbooks.md#spotaliswebhookunreachable',
    },
  ];
};

export const failsOpen: Check = own((registration) => {
  const { failurePolicy } = registration;
  if (failurePolicy === 'Ignore') return [];
  return [
    {
      id: 'failure-policy',
      severity: 'error',
      object: object(registration),
      what: `failurePolicy is ${failurePolicy} instead of Ignore`,
      why: 'while the webhook does not answer, no pod of an opted-in namespace can be created at all',
      remedy: `kubectl patch mutatingwebhookconfiguration ${registration.name} --type json -p '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]'`,
    },
  ];
});

export const answersInTime: Check = own((registration, { survey }) => {
  const { timeoutSeconds } = registration;
  const { decisionTimeout } = survey.settings.values.webhook;
  if (decisionTimeout + MARGIN_MS > timeoutSeconds * 1_000) {
    return [
      {
        id: 'decision-timeout',
        severity: 'error',
        object: object(registration),
        what: `timeoutSeconds is ${timeoutSeconds}, and webhook.decisionTimeout is ${decisionTimeout}ms: less than ${MARGIN_MS}ms apart`,
        why: 'an answer that took its time comes too late, and the pod is created unsteered',
        remedy:
          'set webhook.decisionTimeout lower, for example 1500ms for timeoutSeconds 2: docs/configuration.md',
      },
    ];
  }
  if (timeoutSeconds <= LONGEST_TIMEOUT_SECONDS) return [];
  return [
    {
      id: 'registration-timeout',
      severity: 'warning',
      object: object(registration),
      what: `timeoutSeconds is ${timeoutSeconds}; the chart sets 2`,
      why: 'so long does the creation of each pod wait when the webhook hangs',
      remedy: `kubectl patch mutatingwebhookconfiguration ${registration.name} --type json -p '[{"op":"replace","path":"/webhooks/0/timeoutSeconds","value":2}]'`,
    },
  ];
});

/** The API server has to ask about the very namespaces that the services look at. */
export const asksInScope: Check = own((registration, { survey }) => {
  if (survey.settings.assumed) return [];
  const { scope } = survey.settings.values;
  const stranger = { name: 'one without the label', labels: {} };
  const cases = survey.objects.namespaces.map(({ metadata, labels }) => ({ name: metadata.name, labels }));
  const wrong = [...cases, stranger].flatMap(({ name, labels }): string[] => {
    const asked = selects(registration.namespaceSelector, labels);
    const subject = { namespace: name, namespaceLabels: labels, workloadLabels: { [enabledLabel]: 'true' } };
    const wanted = managed(subject, scope).managed;
    if (asked === wanted) return [];
    return [`${wanted ? 'leaves out' : 'includes'} namespace ${name}`];
  });
  const [first, ...more] = wrong;
  if (first === undefined) return [];
  const leavesOut = wrong.some((text) => text.startsWith('leaves out'));
  return [
    {
      id: 'namespace-selector',
      severity: leavesOut ? 'error' : 'warning',
      object: object(registration),
      what: `its namespaceSelector is not that of the scope: it ${first}${more.length === 0 ? '' : `, and ${more.length} more`}`,
      why: leavesOut
        ? 'pods there are created unsteered, and the controller moves one after another'
        : 'pods wait for the webhook that it has nothing to say about',
      remedy: restore,
    },
  ];
});

export const hasEndpoint: Check = own((registration) => {
  const { service } = registration;
  if (service === null || service.readyEndpoints !== 0) return [];
  const { namespace, name } = service;
  return [
    {
      id: 'endpoint-missing',
      severity: 'error',
      object: `Service ${namespace}/${name}`,
      what: 'it has no ready endpoint',
      why: 'no webhook answers, so pods are created unsteered; nothing is moved meanwhile',
      remedy: 'docs/runbooks.md#spotaliswebhookunreachable',
    },
  ];
});
