/** The workloads the tour shows. Together they cover a share, a floor, a high floor, and stable ordinals. */
export const sampleNamespace = 'shop';

interface Sample {
  readonly kind: 'Deployment' | 'StatefulSet';
  readonly name: string;
  readonly replicas: number;
  readonly spotPercentage: number;
  readonly minOnDemand: number;
}

export const samples: readonly Sample[] = [
  { kind: 'Deployment', name: 'web', replicas: 10, spotPercentage: 70, minOnDemand: 1 },
  { kind: 'Deployment', name: 'search', replicas: 40, spotPercentage: 80, minOnDemand: 2 },
  { kind: 'Deployment', name: 'checkout', replicas: 10, spotPercentage: 90, minOnDemand: 4 },
  { kind: 'StatefulSet', name: 'queue', replicas: 5, spotPercentage: 40, minOnDemand: 2 },
];

function manifest({ kind, name, replicas, spotPercentage, minOnDemand }: Sample): Record<string, unknown> {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: {
      name,
      namespace: sampleNamespace,
      labels: { 'spotalis.io/enabled': 'true' },
      annotations: {
        'spotalis.io/spot-percentage': String(spotPercentage),
        'spotalis.io/min-on-demand': String(minOnDemand),
        'spotalis.io/spot-fallback-after': '10s',
      },
    },
    spec: {
      replicas,
      ...(kind === 'StatefulSet' ? { serviceName: name, podManagementPolicy: 'Parallel' } : {}),
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: 'app',
              image: 'registry.k8s.io/pause:3.10',
              resources: { requests: { cpu: '10m', memory: '16Mi' } },
            },
          ],
        },
      },
    },
  };
}

/** The namespace and its workloads, in one go: even the first pods are to be exact. */
export const sampleManifests: readonly Record<string, unknown>[] = [
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: sampleNamespace,
      // By the second one the next tour knows what a killed one has left from a namespace of somebody's own.
      labels: { 'spotalis.io/enabled': 'true', 'app.kubernetes.io/managed-by': 'spotalis-tour' },
    },
  },
  ...samples.map(manifest),
];
