/** Every program of the test cluster, named once; the modules under `go/` must say the same (a test compares). */
export const VERSIONS = {
  kubernetes: '1.36.3',
  etcd: '3.6.16',
  kwok: '0.8.0',
  /** For the charts. */
  helm: '3.22.0',
  /** For scenarios with an autoscaler. */
  karpenter: '1.14.1',
  /** For the Metrics API. */
  'metrics-server': '0.9.0',
  /** For the certificates that the chart asks it for. */
  'cert-manager': '1.21.2',
  /** Whose kinds the charts make objects of: only their definitions are read. */
  prometheusOperator: '0.85.0',
  /** The toolchain that builds them, where they are built. */
  go: '1.26.8',
} as const;

/**
 * Versions that the docs promise as well. A file of tests that says `@also NAME` is played once more with this one in the
 * place of the part.
 */
export const ALTERNATIVES = {
  /** The oldest that the charts allow. */
  'kubernetes-1.30': { part: 'control-plane', project: 'kubernetes', version: '1.30.14' },
  'helm-4': { part: 'helm', project: 'helm', version: '4.3.1' },
  /** The oldest whose commands are enough. */
  'redis-6.2': { part: 'redis', project: 'redis', version: '6.2' },
  'redis-8.0': { part: 'redis', project: 'redis', version: '8.0' },
  'valkey-8.1': { part: 'redis', project: 'valkey', version: '8.1' },
} as const;

export type Alternative = keyof typeof ALTERNATIVES;

export const isAlternative = (name: string): name is Alternative => name in ALTERNATIVES;

/** The one that this process plays with, if any. */
export function alternative(): Alternative | undefined {
  const name = process.env['SPOTALIS_TEST_WITH'];
  if (!name) return undefined;
  if (isAlternative(name)) return name;
  throw new RangeError(`there is no '${name}': use ${Object.keys(ALTERNATIVES).join(', ')}`);
}

export function versionOf(project: keyof typeof VERSIONS, name = alternative()): string {
  const other = name && ALTERNATIVES[name];
  return other?.project === project ? other.version : VERSIONS[project];
}

export const majorOf = (project: keyof typeof VERSIONS) => Number.parseInt(versionOf(project), 10);
