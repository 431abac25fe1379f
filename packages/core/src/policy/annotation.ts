import { nearest } from '@spotalis/units';
import { parseFallbackAfter, parseWindowDuration } from './duration.ts';
import { type Annotations, enabledLabel, keyPrefix, podKeys, type PolicyField, policyKeys } from './keys.ts';
import { type PolicyProblem, type PolicyProblemCode, type PolicySource, shown } from './problem.ts';
import { parseSchedule, type Schedule } from './schedule.ts';
import { parseBoolean, type Parsed, parseMinOnDemand, parsePercentage } from './value.ts';

/** What each field holds once it is parsed. */
export interface PolicyValues {
  readonly spotPercentage: number;
  readonly minOnDemand: number;
  readonly disruptionSchedule: Schedule;
  readonly disruptionDuration: number;
  readonly spotFallbackAfter: number | 'never';
  readonly paused: boolean;
}

interface FieldRule<T> {
  readonly parse: (text: string) => Parsed<T>;
  readonly code: PolicyProblemCode;
  readonly example: string;
}

const rules: { readonly [F in PolicyField]: FieldRule<PolicyValues[F]> } = {
  spotPercentage: { parse: parsePercentage, code: 'InvalidNumber', example: '70' },
  minOnDemand: { parse: parseMinOnDemand, code: 'InvalidNumber', example: '2' },
  disruptionSchedule: {
    parse: parseSchedule,
    code: 'InvalidSchedule',
    example: 'CRON_TZ=Europe/Berlin 0 22 * * 1-5',
  },
  disruptionDuration: { parse: parseWindowDuration, code: 'InvalidDuration', example: '2h30m' },
  spotFallbackAfter: { parse: parseFallbackAfter, code: 'InvalidFallback', example: '2m' },
  paused: { parse: parseBoolean, code: 'InvalidPaused', example: 'true' },
};

/** The key as the user wrote it: an annotation, or a path in the configuration file. */
function keyOf(field: PolicyField, where: PolicySource): string {
  return where === 'configuration' ? `defaults.${field}` : policyKeys[field];
}

const places: Readonly<Record<PolicySource, string>> = {
  workload: 'on the workload',
  namespace: 'on the Namespace',
  configuration: 'in the configuration',
};

/** One field's text, read. */
export type FieldReading<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: PolicyProblem };

export function readField<F extends PolicyField>(
  field: F,
  text: string,
  where: PolicySource,
): FieldReading<PolicyValues[F]> {
  const { parse, code, example } = rules[field];
  const parsed = parse(text);
  if (parsed.ok) return parsed;
  const key = keyOf(field, where);
  const message = `${key}: ${shown(text)} ${places[where]} is not ${parsed.expected}. Example: ${key}: "${example}"`;
  return { ok: false, problem: { code, key, value: text, where, message, nearestKey: null } };
}

/** One half of the window is set in this place and the other is not. */
export function missingHalf(
  missing: 'disruptionSchedule' | 'disruptionDuration',
  where: PolicySource,
): PolicyProblem {
  const key = keyOf(missing, where);
  const other = keyOf(missing === 'disruptionSchedule' ? 'disruptionDuration' : 'disruptionSchedule', where);
  return {
    code: missing === 'disruptionSchedule' ? 'MissingSchedule' : 'MissingDuration',
    key,
    value: null,
    where,
    message: `${key} is missing ${places[where]}: ${other} needs it. Example: ${key}: "${rules[missing].example}"`,
    nearestKey: null,
  };
}

const knownKeys: readonly string[] = Object.values(policyKeys);
const knownNames = knownKeys.map((key) => key.slice(keyPrefix.length));
const keysOfPods: readonly string[] = Object.values(podKeys);

function unknownKey(key: string, value: string, where: PolicySource): PolicyProblem {
  const problem = { code: 'UnknownKey', key, value, where } as const;
  if (key === enabledLabel) {
    const message = `${key} ${places[where]} is an annotation and has no effect. Set it as a label: ${key}: "true"`;
    return { ...problem, message, nearestKey: null };
  }
  if (keysOfPods.includes(key)) {
    const message = `${key} ${places[where]} has no effect: it belongs to pods. Example: ${policyKeys.paused}: "true" holds all moves`;
    return { ...problem, message, nearestKey: null };
  }
  const name = nearest(key.slice(keyPrefix.length), knownNames);
  if (name === null) {
    const message = `${key} ${places[where]} is not a known annotation and is ignored. Known: ${knownNames.join(', ')}`;
    return { ...problem, message, nearestKey: null };
  }
  const nearestKey = `${keyPrefix}${name}`;
  const message = `${key} ${places[where]} is not a known annotation and is ignored. Did you mean ${nearestKey}?`;
  return { ...problem, message, nearestKey };
}

/** Keys under our prefix that no version of this program reads. */
export function unknownKeys(annotations: Annotations, where: PolicySource): PolicyProblem[] {
  const problems: PolicyProblem[] = [];
  for (const key of Object.keys(annotations)) {
    if (!key.startsWith(keyPrefix) || knownKeys.includes(key)) continue;
    problems.push(unknownKey(key, annotations[key] ?? '', where));
  }
  return problems;
}

/** Both labels but neither of the two numbers. */
export function noPolicy(): PolicyProblem {
  const { spotPercentage, minOnDemand } = policyKeys;
  return {
    code: 'NoPolicy',
    key: spotPercentage,
    value: null,
    where: 'workload',
    message: `Neither ${spotPercentage} nor ${minOnDemand} is set, so nothing is done. Example: ${spotPercentage}: "70"`,
    nearestKey: null,
  };
}
