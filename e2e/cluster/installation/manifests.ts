import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { ours } from './claim.ts';

/**
 * What an installation puts into the cluster: identities with the least they need, the Lease, the place for
 * what is told of droughts, and the webhook's registration.
 */
export const installationNamespace = 'spotalis-system';

export type ServiceName = 'webhook' | 'controller';

interface Manifest extends Readonly<Record<string, unknown>> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** What the objects are called that rules name one by one. */
const names: Readonly<Record<string, string>> = {
  CONFIGURATION_NAME: 'spotalis',
  CERTIFICATE_NAME: 'spotalis-webhook-certificate',
};

const charts = new URL('../../../charts/spotalis/charts/', import.meta.url);

/** The very rules that the charts render, whatever they depend on there: with those of all modules. */
function rulesOf(service: ServiceName, ...files: readonly string[]): Rule[] {
  const cwd = fileURLToPath(new URL(`${service}/rbac/`, charts));
  const paths = files.flatMap((file) => globSync(`{,modules/*/}${file}.yaml`, { cwd }).toSorted());
  return paths.flatMap((path): Rule[] => {
    const text = readFileSync(`${cwd}${path}`, 'utf8');
    return parse(text.replaceAll(/\$\((\w+)\)/g, (token, name: string) => names[name] ?? token));
  });
}

export const SERVICES: readonly ServiceName[] = ['webhook', 'controller'];

/** For what is of no namespace, whatever the scope. */
const natureRules: Readonly<Record<ServiceName, readonly Rule[]>> = {
  webhook: rulesOf('webhook', 'cluster', 'registration'),
  controller: rulesOf('controller', 'cluster'),
};

/** For where workloads are: everywhere, or in each namespace of the scope. */
const workloadRules: Readonly<Record<ServiceName, readonly Rule[]>> = {
  webhook: rulesOf('webhook', 'workloads', 'embedded'),
  controller: rulesOf('controller', 'workloads'),
};

/** In the installation's own namespace, where the scope is of some namespaces. */
const homeRules: Readonly<Record<ServiceName, readonly Rule[]>> = {
  webhook: [],
  controller: rulesOf('controller', 'home'),
};

export const clusterRules: Readonly<Record<ServiceName, readonly Rule[]>> = {
  webhook: [...natureRules.webhook, ...workloadRules.webhook],
  controller: [...natureRules.controller, ...workloadRules.controller],
};

export const namespaceRules: Readonly<Record<ServiceName, readonly Rule[]>> = {
  webhook: rulesOf('webhook', 'namespace', 'certificate'),
  controller: rulesOf('controller', 'namespace', 'lease'),
};

const rbac = 'rbac.authorization.k8s.io';

/** A role and its binding; without a namespace, of the whole cluster. */
function role(
  service: ServiceName,
  name: string,
  namespace: string | undefined,
  rules: readonly Rule[],
): Manifest[] {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  const metadata = { name, ...(namespace === undefined ? { labels: ours } : { namespace }) };
  const subject = { kind: 'ServiceAccount', name: `spotalis-${service}`, namespace: installationNamespace };
  return [
    { apiVersion: `${rbac}/v1`, kind, metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: rbac, kind, name },
      subjects: [subject],
    },
  ];
}

/** As the charts grant them, with or without `scope.namespaces`. */
function rights(service: ServiceName, namespaces: readonly string[]): Manifest[] {
  const name = `spotalis-${service}`;
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: installationNamespace },
  };
  const own = namespaceRules[service];
  if (namespaces.length === 0) {
    return [
      account,
      ...role(service, name, undefined, clusterRules[service]),
      ...role(service, name, installationNamespace, own),
    ];
  }
  return [
    account,
    ...role(service, name, undefined, natureRules[service]),
    ...role(service, name, installationNamespace, [...own, ...homeRules[service]]),
    ...namespaces.flatMap((each) => role(service, `${name}.workloads`, each, workloadRules[service])),
  ];
}

/** What a service is and may do, and what the chart brings it. Namespaces that are listed have to be there. */
export const identities = (namespaces: readonly string[] = []): readonly Manifest[] => [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: installationNamespace, labels: ours } },
  // Everything preempts placeholders, and they preempt nothing.
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'spotalis-placeholder', labels: ours },
    value: -10,
    preemptionPolicy: 'Never',
    description: 'Keeps a place for a pod that is about to move.',
  },
  ...rights('webhook', namespaces),
  ...rights('controller', namespaces),
  {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'spotalis-controller', namespace: installationNamespace },
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'spotalis-droughts', namespace: installationNamespace },
  },
];

const certificatePlace = { name: 'spotalis-webhook-certificate', namespace: installationNamespace };

/** What webhooks that make their own certificate share. */
export const sharedCertificate: readonly Manifest[] = [
  { apiVersion: 'v1', kind: 'Secret', metadata: certificatePlace, type: 'Opaque' },
  { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: certificatePlace },
];

/** The name of the Service in front of the webhooks, where an installation has one. */
export const webhookService = 'spotalis-webhook';

export interface Registration {
  /** Where the API server finds the webhook. */
  readonly url: string;
  /** PEM of the authority that signed the webhook's certificate; empty when somebody else fills it in. */
  readonly caBundle: string;
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
  /** As in the chart's values, and its default. */
  readonly timeoutSeconds?: number;
  /** As in `scope.namespaces`. */
  readonly namespaces?: readonly string[];
}

/** As the chart registers it, but for where the webhook is. */
export function registration({
  url,
  caBundle,
  reinvocationPolicy = 'Never',
  timeoutSeconds = 2,
  namespaces = [],
}: Registration): Manifest {
  const excluded = JSON.stringify(['kube-system', installationNamespace]);
  const text = readFileSync(new URL('webhook/registration.yaml', charts), 'utf8');
  const entry: { readonly namespaceSelector: { readonly matchExpressions: readonly object[] } } = parse(
    text.replace('$(EXCLUDED_NAMESPACES)', excluded).replace('$(TIMEOUT_SECONDS)', String(timeoutSeconds)),
  );
  const { matchExpressions } = entry.namespaceSelector;
  const listed = { key: 'kubernetes.io/metadata.name', operator: 'In', values: namespaces };
  const namespaceSelector = {
    matchExpressions: [...matchExpressions, ...(namespaces.length === 0 ? [] : [listed])],
  };
  const clientConfig = { url, ...(caBundle && { caBundle: Buffer.from(caBundle).toString('base64') }) };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'spotalis', labels: ours },
    webhooks: [{ ...entry, namespaceSelector, clientConfig, reinvocationPolicy }],
  };
}

/** What an installation for all namespaces consists of, in the order in which it is made. */
export const installed = (): readonly Manifest[] => [
  ...identities(),
  registration({ url: '', caBundle: '' }),
];
