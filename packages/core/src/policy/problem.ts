/** Stable names of what can be wrong with annotations; Events, metrics and `doctor` show them. */
export const policyProblemCodes = [
  'InvalidNumber',
  'InvalidSchedule',
  'InvalidDuration',
  'InvalidFallback',
  'InvalidPaused',
  'MissingSchedule',
  'MissingDuration',
  'UnknownKey',
  'NoPolicy',
] as const;

export type PolicyProblemCode = (typeof policyProblemCodes)[number];

/** Where the value in question was set. */
export type PolicySource = 'workload' | 'namespace' | 'configuration';

export interface PolicyProblem {
  readonly code: PolicyProblemCode;
  /** The annotation, or for `configuration` the path of the key in the file. */
  readonly key: string;
  /** As written; null where nothing was written. */
  readonly value: string | null;
  readonly where: PolicySource;
  /** One sentence for people, with a valid example. */
  readonly message: string;
  /** The known key that an unknown one was probably meant to be. */
  readonly nearestKey: string | null;
}

/** Values can be 256 KiB long, an Event's note only 1 KiB and a warning should be shorter. */
const LONGEST_SHOWN = 60;

export function shown(value: string): string {
  const cut = value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}...` : value;
  return JSON.stringify(cut);
}
