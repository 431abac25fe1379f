/** Every program of the test cluster, named once; the modules under `go/` must say the same (a test compares). */
export const VERSIONS = {
  kubernetes: '1.36.3',
  etcd: '3.6.16',
  kwok: '0.8.0',
  /** For the charts. */
  helm: '3.22.0',
  /** For scenarios with an autoscaler. */
  karpenter: '1.14.1',
  /** Whose kinds the charts make objects of: only their definitions are read. */
  certManager: '1.21.2',
  prometheusOperator: '0.85.0',
  /** The toolchain that builds them, where they are built. */
  go: '1.26.8',
} as const;
