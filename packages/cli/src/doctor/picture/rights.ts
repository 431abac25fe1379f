import { type Configuration, isOn, modules, type RightReach, rightReaches } from '@spotalis/core';
import type { ApiClient } from '@spotalis/kube';
import { type RawObject, resource } from '@spotalis/kube';
import type { MissingRight } from './picture.ts';

/** Rules of one service, as in charts/spotalis/charts/SERVICE/rbac. */
export interface Rule {
  readonly group: string;
  readonly resources: readonly string[];
  readonly name?: string;
  readonly verbs: readonly string[];
}

/** Where a rule has to hold. */
type Reach = 'cluster' | 'workloads' | 'own namespace' | 'certificate' | 'lease';

export interface RuleFile {
  readonly service: 'webhook' | 'controller';
  readonly file: string;
  readonly reach: Reach;
  readonly rules: readonly Rule[];
  /** Not asked for otherwise. */
  readonly isNeeded?: (values: Configuration) => boolean;
}

const read = ['get', 'list', 'watch'];
const mirror = ['list', 'watch'];
const isAuto = ({ webhook }: Configuration): boolean => webhook.certs.mode === 'auto';

/** What stands in rules for names that the configuration gives. */
const placeholders = { configuration: '$(CONFIGURATION_NAME)', certificate: '$(CERTIFICATE_NAME)' };

/** Of the services themselves, and of what all modules look at: a test holds these and the chart's together. */
export const ruleFiles: readonly RuleFile[] = [
  {
    service: 'webhook',
    file: 'cluster',
    reach: 'cluster',
    rules: [{ group: '', resources: ['namespaces'], verbs: read }],
  },
  {
    service: 'webhook',
    file: 'workloads',
    reach: 'workloads',
    rules: [{ group: 'apps', resources: ['deployments', 'statefulsets', 'replicasets'], verbs: read }],
  },
  {
    service: 'webhook',
    file: 'registration',
    reach: 'cluster',
    rules: [
      {
        group: 'admissionregistration.k8s.io',
        resources: ['mutatingwebhookconfigurations'],
        name: placeholders.configuration,
        verbs: ['get', 'patch'],
      },
    ],
    isNeeded: isAuto,
  },
  {
    service: 'webhook',
    file: 'certificate',
    reach: 'certificate',
    rules: [
      { group: '', resources: ['secrets'], name: placeholders.certificate, verbs: ['get', 'patch'] },
      {
        group: 'coordination.k8s.io',
        resources: ['leases'],
        name: placeholders.certificate,
        verbs: ['get', 'patch'],
      },
    ],
    isNeeded: isAuto,
  },
  {
    service: 'webhook',
    file: 'namespace',
    reach: 'own namespace',
    rules: [{ group: 'events.k8s.io', resources: ['events'], verbs: ['create', 'patch'] }],
  },
  {
    service: 'controller',
    file: 'cluster',
    reach: 'cluster',
    rules: [
      { group: '', resources: ['namespaces', 'nodes', 'persistentvolumes'], verbs: mirror },
      {
        group: 'admissionregistration.k8s.io',
        resources: ['mutatingwebhookconfigurations'],
        name: placeholders.configuration,
        verbs: ['get'],
      },
    ],
  },
  {
    service: 'controller',
    file: 'workloads',
    reach: 'workloads',
    rules: [
      { group: 'apps', resources: ['deployments', 'statefulsets', 'replicasets'], verbs: mirror },
      { group: '', resources: ['persistentvolumeclaims'], verbs: mirror },
      { group: 'policy', resources: ['poddisruptionbudgets'], verbs: mirror },
      { group: '', resources: ['pods'], verbs: read },
      { group: 'events.k8s.io', resources: ['events'], verbs: ['create', 'patch'] },
    ],
  },
  {
    service: 'controller',
    file: 'home',
    reach: 'own namespace',
    rules: [
      { group: '', resources: ['pods'], verbs: mirror },
      { group: 'apps', resources: ['deployments', 'replicasets'], verbs: mirror },
      { group: 'events.k8s.io', resources: ['events'], verbs: ['create', 'patch'] },
    ],
    isNeeded: ({ scope }) => scope.namespaces.length > 0,
  },
  {
    service: 'controller',
    file: 'lease',
    reach: 'lease',
    rules: [
      {
        group: 'coordination.k8s.io',
        resources: ['leases'],
        name: 'spotalis-controller',
        verbs: ['get', 'patch'],
      },
    ],
    isNeeded: ({ controller }) => controller.leaderElection.enabled,
  },
];

const reaches: Readonly<Record<RightReach, Reach>> = {
  cluster: 'cluster',
  workloads: 'workloads',
  embedded: 'workloads',
  namespace: 'own namespace',
};

const isEmbedded = ({ redis }: Configuration): boolean => redis.url?.startsWith('memory:') ?? false;

/** What the modules add to it, as they declare it. */
const moduleRules: readonly Omit<RuleFile, 'file'>[] = modules.flatMap((module) =>
  (['webhook', 'controller'] as const).flatMap((service) =>
    rightReaches.map((reach) => ({
      service,
      reach: reaches[reach],
      rules: module.rights[service][reach] ?? [],
      isNeeded: (values: Configuration) =>
        isOn(module, values.modules) && (reach !== 'embedded' || isEmbedded(values)),
    })),
  ),
);

interface RawReview extends RawObject {
  readonly status?: { readonly allowed?: boolean };
}

const reviews = resource<RawReview>('authorization.k8s.io/v1', 'subjectaccessreviews', 'SubjectAccessReview');

export interface Account {
  readonly service: 'webhook' | 'controller';
  readonly namespace: string;
  readonly name: string;
}

/** Asks the API server, which keeps nothing of it, what each account may do. */
export async function missingRights(
  client: ApiClient,
  accounts: readonly Account[],
  values: Configuration,
): Promise<readonly MissingRight[]> {
  const questions = accounts.flatMap((account) =>
    [...ruleFiles, ...moduleRules]
      .filter(({ service, isNeeded }) => service === account.service && (isNeeded?.(values) ?? true))
      .flatMap(({ reach, rules }) =>
        rules.flatMap(({ group, resources, name, verbs }) =>
          resources.flatMap((each) =>
            verbs.flatMap((verb) =>
              namespacesOf(reach, account.namespace, values).map((namespace) => ({
                account,
                group,
                each,
                name: named(name, values),
                verb,
                namespace,
              })),
            ),
          ),
        ),
      ),
  );
  const answers = await Promise.all(
    questions.map(
      async ({ account, group, each, name, verb, namespace }): Promise<readonly MissingRight[]> => {
        const [plural = '', subresource] = each.split('/');
        const spec = {
          user: `system:serviceaccount:${account.namespace}:${account.name}`,
          groups: [
            'system:serviceaccounts',
            `system:serviceaccounts:${account.namespace}`,
            'system:authenticated',
          ],
          resourceAttributes: {
            group,
            resource: plural,
            verb,
            ...(subresource !== undefined && { subresource }),
            ...(name !== undefined && { name }),
            ...(namespace !== undefined && { namespace }),
          },
        };
        const { status } = await client.create(reviews, {}, { spec });
        if (status?.allowed === true) return [];
        const what = `${verb} ${each}${name === undefined ? '' : ` ${name}`}`;
        return [{ account: `${account.namespace}/${account.name}`, what, namespace }];
      },
    ),
  );
  return answers.flat();
}

function named(name: string | undefined, { webhook }: Configuration): string | undefined {
  if (name === placeholders.configuration) return webhook.configurationName;
  return name === placeholders.certificate ? webhook.certs.name : name;
}

/** Undefined stands for the whole cluster. */
function namespacesOf(
  reach: Reach,
  own: string,
  { webhook, controller, scope }: Configuration,
): readonly (string | undefined)[] {
  if (reach === 'workloads') return scope.namespaces.length > 0 ? scope.namespaces : [undefined];
  if (reach === 'cluster') return [undefined];
  if (reach === 'certificate') return [webhook.certs.namespace ?? own];
  return [reach === 'lease' ? (controller.leaderElection.namespace ?? own) : own];
}
