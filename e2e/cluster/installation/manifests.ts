import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/**
 * What an installation puts into the cluster: identities with the least they need, the Lease, the place for
 * what is told of droughts, and the webhook's registration.
 */
export const installationNamespace = 'spotalis-system';

export type ServiceName = 'webhook' | 'controller';

interface Manifest extends Readonly<Record<string, unknown>> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
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

/** The very rules that the charts render, whatever they depend on there. */
function rulesOf(service: ServiceName, ...files: readonly string[]): Rule[] {
  return files.flatMap((file): Rule[] => {
    const text = readFileSync(new URL(`${service}/rbac/${file}.yaml`, charts), 'utf8');
    return parse(text.replaceAll(/\$\((\w+)\)/g, (token, name: string) => names[name] ?? token));
  });
}

export const SERVICES: readonly ServiceName[] = ['webhook', 'controller'];

export const clusterRules: Readonly<Record<ServiceName, readonly Rule[]>> = {
  webhook: rulesOf('webhook', 'cluster', 'embedded', 'registration'),
  controller: rulesOf('controller', 'cluster'),
};

export const namespaceRules: Readonly<Record<ServiceName, readonly Rule[]>> = {
  webhook: rulesOf('webhook', 'namespace', 'certificate'),
  controller: rulesOf('controller', 'namespace', 'lease'),
};

function role(service: ServiceName): Manifest[] {
  const name = `spotalis-${service}`;
  const subject = { kind: 'ServiceAccount', name, namespace: installationNamespace };
  const rbac = 'rbac.authorization.k8s.io';
  const manifests: Manifest[] = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: installationNamespace } },
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name }, rules: clusterRules[service] },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: [subject],
    },
  ];
  return [
    ...manifests,
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name, namespace: installationNamespace },
      rules: namespaceRules[service],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name, namespace: installationNamespace },
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [subject],
    },
  ];
}

export const identities: readonly Manifest[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: installationNamespace } },
  // Everything preempts placeholders, and they preempt nothing.
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'spotalis-placeholder' },
    value: -10,
    preemptionPolicy: 'Never',
    description: 'Keeps a place for a pod that is about to move.',
  },
  ...role('webhook'),
  ...role('controller'),
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
}

/** As the chart registers it, but for where the webhook is. */
export function registration({ url, caBundle, reinvocationPolicy = 'Never' }: Registration): Manifest {
  const excluded = JSON.stringify(['kube-system', installationNamespace]);
  const text = readFileSync(new URL('webhook/registration.yaml', charts), 'utf8');
  const entry: object = parse(
    text.replace('$(EXCLUDED_NAMESPACES)', excluded).replace('$(TIMEOUT_SECONDS)', '2'),
  );
  const clientConfig = { url, ...(caBundle && { caBundle: Buffer.from(caBundle).toString('base64') }) };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'spotalis' },
    webhooks: [{ ...entry, clientConfig, reinvocationPolicy }],
  };
}
