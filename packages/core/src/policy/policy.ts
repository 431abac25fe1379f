import type { PolicyNumbers } from './target.ts';
import {
  type FieldReading,
  missingHalf,
  noPolicy,
  type PolicyValues,
  readField,
  unknownKeys,
} from './annotation.ts';
import { type Annotations, type PolicyField, policyKeys } from './keys.ts';
import type { PolicyProblem, PolicySource } from './problem.ts';
import type { Schedule } from './schedule.ts';

/** Values below the annotations by field name: the configuration's `defaults`, and `fallback.after`. */
export type PolicyDefaults = Readonly<Partial<Record<PolicyField, string | number | undefined>>>;

export interface PolicySources {
  readonly workload: Annotations;
  readonly namespace: Annotations;
  readonly defaults: PolicyDefaults;
}

/** Moves may start from each opening, inclusive, until `durationMs` later, exclusive. */
export interface DisruptionWindow {
  readonly schedule: Schedule;
  readonly durationMs: number;
}

/**
 * What a workload asks for, and so what may be done with it:
 *
 * | kind      | new pods               | existing pods |
 * |-----------|------------------------|---------------|
 * | `none`    | not touched            | not touched   |
 * | `invalid` | on-demand (`numbers`)  | not moved     |
 * | `frozen`  | by its numbers         | not moved     |
 * | `valid`   | by its numbers         | moved in its window, unless paused |
 */
export type PolicyReading =
  | { readonly kind: 'none'; readonly problems: readonly PolicyProblem[] }
  | { readonly kind: 'invalid'; readonly numbers: PolicyNumbers; readonly problems: readonly PolicyProblem[] }
  | { readonly kind: 'frozen'; readonly numbers: PolicyNumbers; readonly problems: readonly PolicyProblem[] }
  | ValidPolicy;

export interface ValidPolicy {
  readonly kind: 'valid';
  readonly numbers: PolicyNumbers;
  /** The numbers that no annotation sets: they follow the configuration's `defaults`, which each process reads by itself. */
  readonly defaulted: readonly (keyof PolicyNumbers)[];
  /** Null: always open. */
  readonly window: DisruptionWindow | null;
  readonly fallbackAfterMs: number | 'never';
  readonly paused: boolean;
  /** Unknown keys; they change nothing. */
  readonly problems: readonly PolicyProblem[];
}

/** With these numbers every pod belongs on on-demand: where a policy cannot be read, that is safe. */
const allOnDemand: PolicyNumbers = { spotPercentage: 0, minOnDemand: 0 };

const FALLBACK_AFTER_MS = 120_000;

const order: readonly PolicySource[] = ['workload', 'namespace', 'configuration'];

function textOf(sources: PolicySources, where: PolicySource, field: PolicyField): string | undefined {
  // A number is read as the text it would be in an annotation.
  if (where === 'configuration') return sources.defaults[field]?.toString();
  return (where === 'workload' ? sources.workload : sources.namespace)[policyKeys[field]];
}

/** The field from the nearest place that sets it, or undefined when none does. */
function readNearest<F extends PolicyField>(
  sources: PolicySources,
  field: F,
): FieldReading<PolicyValues[F]> | undefined {
  for (const where of order) {
    const text = textOf(sources, where, field);
    if (text !== undefined) return readField(field, text, where);
  }
  return undefined;
}

const numberFields = ['spotPercentage', 'minOnDemand'] as const satisfies readonly (keyof PolicyNumbers)[];

const isAnnotated = ({ workload, namespace }: PolicySources, field: PolicyField): boolean =>
  (workload[policyKeys[field]] ?? namespace[policyKeys[field]]) !== undefined;

type WindowReading = {
  readonly window: DisruptionWindow | null;
  readonly problems: readonly PolicyProblem[];
};

/** Schedule and duration come from one place: the nearest that sets either. */
function readWindow(sources: PolicySources): WindowReading {
  for (const where of order) {
    const scheduleText = textOf(sources, where, 'disruptionSchedule');
    const durationText = textOf(sources, where, 'disruptionDuration');
    if (scheduleText === undefined && durationText === undefined) continue;
    const schedule = scheduleText === undefined ? null : readField('disruptionSchedule', scheduleText, where);
    const duration = durationText === undefined ? null : readField('disruptionDuration', durationText, where);
    if (schedule?.ok && duration?.ok) {
      return { window: { schedule: schedule.value, durationMs: duration.value }, problems: [] };
    }
    const problems: PolicyProblem[] = [];
    if (schedule === null) problems.push(missingHalf('disruptionSchedule', where));
    else if (!schedule.ok) problems.push(schedule.problem);
    if (duration === null) problems.push(missingHalf('disruptionDuration', where));
    else if (!duration.ok) problems.push(duration.problem);
    return { window: null, problems };
  }
  return { window: null, problems: [] };
}

/** The value, or what holds when nobody set it; a problem goes onto the list and counts as not set. */
function settle<T>(reading: FieldReading<T> | undefined, otherwise: T, problems: PolicyProblem[]): T {
  if (reading === undefined) return otherwise;
  if (reading.ok) return reading.value;
  problems.push(reading.problem);
  return otherwise;
}

/** The one reading of a workload's annotations, its Namespace's and the defaults. */
export function readPolicy(sources: PolicySources): PolicyReading {
  const problems = unknownKeys(sources.workload, 'workload');

  const percentage = readNearest(sources, 'spotPercentage');
  const floor = readNearest(sources, 'minOnDemand');
  const beforeNumbers = problems.length;
  const numbers = {
    spotPercentage: settle(percentage, 0, problems),
    minOnDemand: settle(floor, 0, problems),
  };
  const numbersAreValid = problems.length === beforeNumbers;

  const beforeRest = problems.length;
  const { window, problems: windowProblems } = readWindow(sources);
  problems.push(...windowProblems);
  const fallbackAfterMs = settle(readNearest(sources, 'spotFallbackAfter'), FALLBACK_AFTER_MS, problems);
  const paused = settle(readNearest(sources, 'paused'), false, problems);

  if (percentage === undefined && floor === undefined) {
    problems.push(noPolicy());
    return { kind: 'none', problems };
  }
  if (!numbersAreValid) return { kind: 'invalid', numbers: allOnDemand, problems };
  if (problems.length > beforeRest) return { kind: 'frozen', numbers, problems };
  const defaulted = numberFields.filter((field) => !isAnnotated(sources, field));
  return { kind: 'valid', numbers, defaulted, window, fallbackAfterMs, paused, problems };
}

/**
 * What is wrong with the defaults that a Namespace carries, whether or not a workload relies on them. Having
 * none is fine.
 */
export function namespaceProblems(annotations: Annotations): readonly PolicyProblem[] {
  const { problems } = readPolicy({ workload: {}, namespace: annotations, defaults: {} });
  return [...problems.filter(({ code }) => code !== 'NoPolicy'), ...unknownKeys(annotations, 'namespace')];
}
