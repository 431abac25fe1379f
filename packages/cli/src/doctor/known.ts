/** Everything that can be found, in the order of the documentation: what each name stands for. */
export const known = {
  'installation-missing': 'nothing of an installation is there',
  'installations-overlap': 'two installations are asked about one namespace',
  'configuration-invalid': 'a configuration that no service can start with',
  'ledger-not-shared': 'several webhooks, each with a ledger of its own (`memory://`)',
  'read-only': '`readOnlyMode` is on',
  'registration-missing': "the MutatingWebhookConfiguration, or this project's webhook in it, is not there",
  'failure-policy': '`failurePolicy` is not `Ignore`',
  'decision-timeout': '`decisionTimeout` is too near to `timeoutSeconds`',
  'registration-timeout': '`timeoutSeconds` is above 5',
  'namespace-selector': 'the API server asks about other namespaces than those of the scope',
  'endpoint-missing': "the webhook's Service has no ready endpoint",
  'certificate-missing': 'the Secret of the certificate is not there, or holds none',
  'certificate-expired': 'the certificate has expired',
  'certificate-expiring': 'less than a sixth of its life is left, and it was not renewed',
  'ca-bundle-empty': '`caBundle` holds no certificate',
  'ca-bundle-wrong': '`caBundle` does not verify the certificate',
  'replicas-missing': 'fewer replicas are ready than were asked for',
  'version-skew': 'webhook and controller are of different versions',
  'lease-missing': "the controllers' Lease is not there",
  'leader-missing': 'no controller holds the Lease',
  'lease-stale': 'whoever holds the Lease renews it no more',
  'bulletin-missing': 'the ConfigMap in which the controller tells of droughts is not there',
  'bulletin-unreadable': 'what the controller tells of droughts is of another version, or not whole',
  'rights-missing': 'a ServiceAccount may not do what its service does',
  'node-labels-absent': 'no node carries a configured label',
  'node-type-absent': 'no node is known as of one of the types',
  'nodes-untyped': 'some nodes are of neither type; a warning where managed pods run on them',
  'policy-invalid': 'a value that cannot be read, on a workload or a namespace',
  'policy-key-unknown': 'an annotation that nobody reads, with the nearest that is',
  'policy-missing': 'both labels and neither number',
  'window-never-open': "a workload's window and that of the configuration never meet",
  'labels-missing': 'a policy without any label',
  'workload-label-missing':
    'a policy without the label of the workload (as after `disable`), or one that is not `"true"`',
  'namespace-label-missing': 'a labelled workload in a namespace that is not',
  'out-of-scope': 'a labelled workload outside of the scope',
  'budget-never': 'a PodDisruptionBudget that never allows an eviction',
  'budgets-several': 'more than one PodDisruptionBudget on a pod',
  'deletion-cost': 'a pod template with a `pod-deletion-cost` of its own',
  'placement-conflict': 'a pod template that rules out a type which its policy wants',
  'pods-unsteered': 'pods that went past the webhook (a warning), or are from before (an info)',
  'drought-lasting': 'a workload has had no spot capacity for an hour',
} as const;

export type FindingId = keyof typeof known;

/** For docs/cli.md. */
export const knownTable = [
  '| What it finds | Which is |',
  '|---|---|',
  ...Object.entries(known).map(([id, meaning]) => `| \`${id}\` | ${meaning} |`),
].join('\n');
