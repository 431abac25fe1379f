/**
 * What an installation puts into the cluster: identities with the least they need, the Lease, and the webhook's
 * registration.
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

const read = ['get', 'list', 'watch'];

const clusterRules: Record<ServiceName, readonly Rule[]> = {
  webhook: [
    { apiGroups: [''], resources: ['namespaces'], verbs: read },
    // The embedded ledger has the webhook watch pods for itself.
    { apiGroups: [''], resources: ['pods'], verbs: read },
    // A pod without our marks has its node's type; and whether there are nodes with the configured labels at all.
    { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] },
    { apiGroups: ['karpenter.sh'], resources: ['nodepools'], verbs: ['list'] },
    { apiGroups: ['apps'], resources: ['deployments', 'statefulsets', 'replicasets'], verbs: read },
    // With certs.mode auto it keeps its own caBundle.
    {
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['mutatingwebhookconfigurations'],
      resourceNames: ['spotalis'],
      verbs: ['get', 'patch'],
    },
  ],
  controller: [
    { apiGroups: [''], resources: ['namespaces', 'nodes', 'pods'], verbs: read },
    { apiGroups: ['apps'], resources: ['deployments', 'statefulsets', 'replicasets'], verbs: read },
    { apiGroups: [''], resources: ['pods'], verbs: ['patch'] },
    { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
    { apiGroups: [''], resources: ['persistentvolumeclaims', 'persistentvolumes'], verbs: read },
    { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: read },
    {
      apiGroups: ['admissionregistration.k8s.io'],
      resources: ['mutatingwebhookconfigurations'],
      resourceNames: ['spotalis'],
      verbs: ['get'],
    },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
  ],
};

const namespaceRules: Record<ServiceName, readonly Rule[]> = {
  webhook: [
    // About its own pods.
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    // With certs.mode auto: both are there, empty, from the installation on.
    {
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: ['spotalis-webhook-certificate'],
      verbs: ['get', 'patch'],
    },
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      resourceNames: ['spotalis-webhook-certificate'],
      verbs: ['get', 'patch'],
    },
  ],
  controller: [
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'patch'] },
    // Whether the webhook's Service has somebody behind it.
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list'] },
    // Placeholders.
    { apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete'] },
  ],
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

/** Pods are asked about only where someone opted in, and only those a ReplicaSet or a StatefulSet controls. */
export function registration({ url, caBundle, reinvocationPolicy = 'Never' }: Registration): Manifest {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'spotalis' },
    webhooks: [
      {
        name: 'pods.spotalis.io',
        admissionReviewVersions: ['v1'],
        clientConfig: { url, ...(caBundle && { caBundle: Buffer.from(caBundle).toString('base64') }) },
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            resources: ['pods'],
            operations: ['CREATE'],
            scope: 'Namespaced',
          },
        ],
        namespaceSelector: {
          matchExpressions: [
            { key: 'spotalis.io/enabled', operator: 'In', values: ['true'] },
            {
              key: 'kubernetes.io/metadata.name',
              operator: 'NotIn',
              values: ['kube-system', installationNamespace],
            },
          ],
        },
        matchConditions: [
          {
            name: 'owned-by-replicaset-or-statefulset',
            expression:
              "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller && o.kind in ['ReplicaSet', 'StatefulSet'])",
          },
        ],
        failurePolicy: 'Ignore',
        timeoutSeconds: 2,
        reinvocationPolicy,
        sideEffects: 'NoneOnDryRun',
      },
    ],
  };
}
