import type { ConfigurationProblem } from '@spotalis/units';

/** Thrown when the file or the environment cannot be accepted. Starting again helps only after an edit. */
export class ConfigurationError extends Error {
  readonly code = 'CONFIGURATION_INVALID';
  readonly problems: readonly ConfigurationProblem[];

  constructor(problems: readonly ConfigurationProblem[]) {
    super(problems.map(({ key, message }) => `${key}: ${message}`).join('\n'));
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/** What a reader made of values that are each allowed. */
export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly ConfigurationProblem[] };

/** The value that was read; throws a ConfigurationError where there is none. */
export function accepted<T>(reading: Reading<T>): T {
  if (reading.ok) return reading.value;
  throw new ConfigurationError(reading.problems);
}

/** The namespace that a key names, or else the one this process runs in. */
export function namespaceAt(key: string, named: string | undefined, own: string | undefined): string {
  const namespace = named ?? own;
  if (namespace !== undefined && namespace !== '') return namespace;
  const message =
    'is not set, and the kubeconfig names no namespace either; set it, for example spotalis-system';
  throw new ConfigurationError([{ key, message }]);
}
