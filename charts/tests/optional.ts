import type { Values } from '@spotalis/cluster';

const tags = { team: 'platform', 'example.com/tier': 'infra' };
const egress = { enabled: true, more: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }] };
const service = {
  image: { digest: `sha256:${'0'.repeat(64)}` },
  metrics: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true }, labels: tags },
  networkPolicy: { metricsFrom: [{ namespaceSelector: { matchLabels: { team: 'monitoring' } } }], egress },
  podLabels: tags,
  podAnnotations: { 'example.com/a': 'b' },
  serviceAccount: { annotations: { 'example.com/role': 'c' } },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'infra', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: 'infra', operator: 'Exists' }] } },
      ],
    },
  },
};
const monitored = { alerts: { enabled: true, labels: tags }, dashboard: { enabled: true, labels: tags } };

/** Everything that can be switched on, in as many sets as exclude each other. */
export const optional: readonly Values[] = [
  {
    ...monitored,
    webhook: { ...service, autoscaling: { enabled: true }, podDisruptionBudget: { maxUnavailable: '25%' } },
    controller: { ...service, priorityClassName: 'system-cluster-critical' },
    redis: {
      nodeSelector: service.nodeSelector,
      tolerations: service.tolerations,
      affinity: service.affinity,
    },
    global: {
      imagePullSecrets: [{ name: 'pull' }],
      config: {
        webhook: { certs: { mode: 'cert-manager' } },
        scope: { namespaceSelector: { matchLabels: tags } },
      },
    },
  },
  {
    webhook: {
      ...service,
      certificate: { secretName: 'mine', caBundle: 'PEM' },
      priorityClassName: 'system-cluster-critical',
    },
    controller: service,
    redis: { enabled: false },
    global: {
      redisSecret: { name: 'my-redis', caKey: 'ca.crt' },
      config: {
        webhook: { certs: { mode: 'provided' } },
        // One that is in every cluster.
        scope: { namespaces: ['default'] },
        redis: { sentinel: { name: 'primary', nodes: ['redis-0:26379', 'redis-1:26379'] } },
      },
    },
  },
  {
    webhook: {
      certificate: { issuerRef: { name: 'ours', kind: 'ClusterIssuer' } },
      replicas: 1,
      networkPolicy: { egress },
    },
    redis: { enabled: false },
    global: { config: { webhook: { certs: { mode: 'cert-manager' } }, redis: { url: 'memory://' } } },
  },
];
