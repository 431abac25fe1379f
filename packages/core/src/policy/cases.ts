import { type Annotations, policyKeys as key } from './keys.ts';
import type { PolicyReading } from './policy.ts';
import type { PolicyProblemCode, PolicySource } from './problem.ts';

/** One way to write a policy and what must come of it. */
export interface PolicyCase {
  readonly name: string;
  readonly workload: Annotations;
  readonly namespace?: Annotations;
  readonly kind: PolicyReading['kind'];
  readonly problems: readonly ExpectedProblem[];
  /**
   * Whether the chart's policy in CEL, which sees a workload and its Namespace when it is applied, must say the same:
   * warn where `problems` is not empty, and be silent where it is. It cannot know time zones or calendars, and reads
   * a Namespace's own values when the Namespace is applied.
   */
  readonly cel: boolean;
}

export interface ExpectedProblem {
  readonly code: PolicyProblemCode;
  readonly key: string;
  readonly where: PolicySource;
}

const on = (where: PolicySource) => (code: PolicyProblemCode, name: string) => ({ code, key: name, where });
const workload = on('workload');
const namespace = on('namespace');

function good(name: string, annotations: Annotations): PolicyCase {
  return { name, workload: annotations, kind: 'valid', problems: [], cel: true };
}

/** A value of one of the two numbers that is refused. */
function badNumber(name: string, numberKey: string, value: string): PolicyCase {
  const problems = [workload('InvalidNumber', numberKey)];
  return { name, workload: { [numberKey]: value }, kind: 'invalid', problems, cel: true };
}

/** A valid share beside something else that is refused. */
function frozen(name: string, annotations: Annotations, problem: ExpectedProblem, cel = true): PolicyCase {
  return {
    name,
    workload: { [key.spotPercentage]: '70', ...annotations },
    kind: 'frozen',
    problems: [problem],
    cel,
  };
}

function schedule(name: string, text: string): PolicyCase {
  return good(name, {
    [key.spotPercentage]: '70',
    [key.disruptionSchedule]: text,
    [key.disruptionDuration]: '4h',
  });
}

function badSchedule(name: string, text: string, cel: boolean): PolicyCase {
  const annotations = { [key.disruptionSchedule]: text, [key.disruptionDuration]: '4h' };
  return frozen(name, annotations, workload('InvalidSchedule', key.disruptionSchedule), cel);
}

function duration(name: string, text: string): PolicyCase {
  return good(name, {
    [key.spotPercentage]: '70',
    [key.disruptionSchedule]: '0 22 * * *',
    [key.disruptionDuration]: text,
  });
}

function badDuration(name: string, text: string): PolicyCase {
  const annotations = { [key.disruptionSchedule]: '0 22 * * *', [key.disruptionDuration]: text };
  return frozen(name, annotations, workload('InvalidDuration', key.disruptionDuration));
}

const numbers: readonly PolicyCase[] = [
  good('a share', { [key.spotPercentage]: '70' }),
  good('a share with a percent sign', { [key.spotPercentage]: '70%' }),
  good('a share between spaces', { [key.spotPercentage]: '  70% ' }),
  good('no spot at all', { [key.spotPercentage]: '0' }),
  good('nothing but spot', { [key.spotPercentage]: '100' }),
  good('a share with a leading zero', { [key.spotPercentage]: '07' }),
  good('a floor alone', { [key.minOnDemand]: '2' }),
  good('a floor of nothing', { [key.minOnDemand]: '0' }),
  good('the highest floor', { [key.minOnDemand]: '10000' }),
  badNumber('a share above 100', key.spotPercentage, '101'),
  badNumber('a negative share', key.spotPercentage, '-1'),
  badNumber('a share with a fraction', key.spotPercentage, '70.5'),
  badNumber('a share with a plus sign', key.spotPercentage, '+70'),
  badNumber('a share in words', key.spotPercentage, 'most'),
  badNumber('an empty share', key.spotPercentage, ''),
  badNumber('a share of spaces', key.spotPercentage, '  '),
  badNumber('a percent sign alone', key.spotPercentage, '%'),
  badNumber('two percent signs', key.spotPercentage, '70%%'),
  badNumber('a space before the percent sign', key.spotPercentage, '70 %'),
  badNumber('a share in hexadecimal', key.spotPercentage, '0x10'),
  badNumber('a share with an exponent', key.spotPercentage, '1e1'),
  badNumber('a share of twenty digits', key.spotPercentage, '70000000000000000000'),
  badNumber('a floor above 10000', key.minOnDemand, '10001'),
  badNumber('a negative floor', key.minOnDemand, '-1'),
  badNumber('a floor in percent', key.minOnDemand, '10%'),
  badNumber('a floor between spaces', key.minOnDemand, ' 2 '),
  badNumber('an empty floor', key.minOnDemand, ''),
  badNumber('a floor in words', key.minOnDemand, 'two'),
  {
    name: 'a valid share beside an invalid floor',
    workload: { [key.spotPercentage]: '70', [key.minOnDemand]: 'two' },
    kind: 'invalid',
    problems: [workload('InvalidNumber', key.minOnDemand)],
    cel: true,
  },
  {
    name: 'both numbers invalid',
    workload: { [key.spotPercentage]: 'most', [key.minOnDemand]: 'two' },
    kind: 'invalid',
    problems: [workload('InvalidNumber', key.spotPercentage), workload('InvalidNumber', key.minOnDemand)],
    cel: true,
  },
  {
    name: 'an invalid share beside an invalid schedule',
    workload: {
      [key.spotPercentage]: 'most',
      [key.disruptionSchedule]: 'at night',
      [key.disruptionDuration]: '4h',
    },
    kind: 'invalid',
    problems: [
      workload('InvalidNumber', key.spotPercentage),
      workload('InvalidSchedule', key.disruptionSchedule),
    ],
    cel: true,
  },
];

const windows: readonly PolicyCase[] = [
  schedule('a window each night', '0 22 * * *'),
  schedule('a window in a time zone', 'CRON_TZ=Europe/Berlin 0 22 * * 1-5'),
  schedule('a time zone of three parts', 'CRON_TZ=America/Argentina/Buenos_Aires 0 2 * * 6'),
  schedule('a window in UTC by name', 'CRON_TZ=UTC 0 22 * * *'),
  schedule('names of months and days', '0 22 * JAN-MAR MON,WED'),
  schedule('steps', '*/15 0-6/2 * * *'),
  schedule('a step from a number', '5/15 * * * *'),
  schedule('Sunday as 7', '0 4 * * 7'),
  schedule('a question mark for any day', '0 4 ? * 1'),
  schedule('a day that only leap years have', '0 4 29 2 *'),
  badSchedule('an empty schedule', '', true),
  badSchedule('a schedule in words', 'at night', true),
  badSchedule('four fields', '0 22 * *', true),
  badSchedule('six fields, the first of seconds', '0 0 22 * * *', true),
  badSchedule('a nickname', '@daily', true),
  badSchedule('an extension for the last day', '0 22 L * *', true),
  badSchedule('an extension for the nth weekday', '0 22 * * 5#2', true),
  badSchedule('another prefix', 'TZ=Europe/Berlin 0 22 * * *', true),
  badSchedule('a prefix and nothing else', 'CRON_TZ=Europe/Berlin', true),
  badSchedule('minute 60', '60 22 * * *', true),
  badSchedule('hour 24', '0 24 * * *', true),
  badSchedule('hour 59 with a step', '0 0,59/2 * * *', true),
  badSchedule('day 0', '0 22 0 * *', true),
  badSchedule('a range backwards', '0 22-2 * * *', false),
  badSchedule('a step of nothing', '*/0 * * * *', true),
  badSchedule('a date that does not exist', '0 22 30 2 *', false),
  badSchedule('a month that does not exist', '0 22 * FOO *', true),
  badSchedule('a time zone that does not exist', 'CRON_TZ=Europe/Atlantis 0 22 * * *', false),
  badSchedule('an offset for a time zone', 'CRON_TZ=+02:00 0 22 * * *', true),
  duration('hours and minutes', '2h30m'),
  duration('a fraction of an hour', '1.5h'),
  duration('minutes beyond an hour', '90m'),
  badDuration('a duration of nothing', '0'),
  badDuration('a duration of no seconds', '0s'),
  badDuration('a negative duration', '-4h'),
  badDuration('a duration without a unit', '4'),
  badDuration('a duration in days', '1d'),
  badDuration('a duration with a space', '4 h'),
  badDuration('an empty duration', ''),
  badDuration('a duration in capitals', '4H'),
  badDuration('a duration beyond 292 years', '2562048h'),
  frozen(
    'a schedule without a duration',
    { [key.disruptionSchedule]: '0 22 * * *' },
    workload('MissingDuration', key.disruptionDuration),
  ),
  frozen(
    'a duration without a schedule',
    { [key.disruptionDuration]: '4h' },
    workload('MissingSchedule', key.disruptionSchedule),
  ),
];

const rest: readonly PolicyCase[] = [
  good('a fallback after a while', { [key.spotPercentage]: '70', [key.spotFallbackAfter]: '45s' }),
  good('a fallback at once', { [key.spotPercentage]: '70', [key.spotFallbackAfter]: '0' }),
  good('no fallback', { [key.spotPercentage]: '70', [key.spotFallbackAfter]: 'never' }),
  ...['', 'Never', '2', '-1m', 'soon'].map((value) =>
    frozen(
      `a fallback after ${JSON.stringify(value)}`,
      { [key.spotFallbackAfter]: value },
      workload('InvalidFallback', key.spotFallbackAfter),
    ),
  ),
  good('a pause', { [key.spotPercentage]: '70', [key.paused]: 'true' }),
  good('no pause', { [key.spotPercentage]: '70', [key.paused]: 'false' }),
  ...['', 'True', 'yes', '1', ' true'].map((value) =>
    frozen(
      `a pause of ${JSON.stringify(value)}`,
      { [key.paused]: value },
      workload('InvalidPaused', key.paused),
    ),
  ),
  good("other projects' annotations", { [key.spotPercentage]: '70', 'example.com/spot-percentage': 'most' }),
  {
    name: 'a key with a typo',
    workload: { [key.spotPercentage]: '70', 'spotalis.io/min-ondemand': '2' },
    kind: 'valid',
    problems: [workload('UnknownKey', 'spotalis.io/min-ondemand')],
    cel: true,
  },
  {
    name: 'the opt-in label as an annotation',
    workload: { [key.spotPercentage]: '70', 'spotalis.io/enabled': 'true' },
    kind: 'valid',
    problems: [workload('UnknownKey', 'spotalis.io/enabled')],
    cel: true,
  },
  {
    name: "a pod's annotation on the workload",
    workload: { [key.spotPercentage]: '70', 'spotalis.io/do-not-move': 'true' },
    kind: 'valid',
    problems: [workload('UnknownKey', 'spotalis.io/do-not-move')],
    cel: true,
  },
  {
    name: 'no annotation at all',
    workload: {},
    kind: 'none',
    problems: [workload('NoPolicy', key.spotPercentage)],
    cel: true,
  },
  {
    name: 'a window and no number',
    workload: { [key.disruptionSchedule]: '0 22 * * *', [key.disruptionDuration]: '4h' },
    kind: 'none',
    problems: [workload('NoPolicy', key.spotPercentage)],
    cel: true,
  },
];

const defaults: readonly PolicyCase[] = [
  {
    name: 'a number from the Namespace',
    workload: {},
    namespace: { [key.spotPercentage]: '70' },
    kind: 'valid',
    problems: [],
    cel: true,
  },
  {
    name: 'an invalid default that the workload relies on',
    workload: { [key.minOnDemand]: '2' },
    namespace: { [key.spotPercentage]: 'most' },
    kind: 'invalid',
    problems: [namespace('InvalidNumber', key.spotPercentage)],
    cel: false,
  },
  {
    name: 'an invalid default that the workload does not need',
    workload: { [key.spotPercentage]: '70' },
    namespace: { [key.spotPercentage]: 'most' },
    kind: 'valid',
    problems: [],
    cel: true,
  },
  {
    name: 'an invalid value over a valid default',
    workload: { [key.spotPercentage]: 'most' },
    namespace: { [key.spotPercentage]: '70' },
    kind: 'invalid',
    problems: [workload('InvalidNumber', key.spotPercentage)],
    cel: true,
  },
  {
    name: "half a window over the Namespace's whole one",
    workload: { [key.spotPercentage]: '70', [key.disruptionSchedule]: '0 4 * * *' },
    namespace: { [key.disruptionSchedule]: '0 22 * * *', [key.disruptionDuration]: '4h' },
    kind: 'frozen',
    problems: [workload('MissingDuration', key.disruptionDuration)],
    cel: true,
  },
  {
    name: "a whole window over the Namespace's half",
    workload: {
      [key.spotPercentage]: '70',
      [key.disruptionSchedule]: '0 4 * * *',
      [key.disruptionDuration]: '1h',
    },
    namespace: { [key.disruptionSchedule]: '0 22 * * *' },
    kind: 'valid',
    problems: [],
    cel: true,
  },
  {
    name: "the Namespace's half a window",
    workload: { [key.spotPercentage]: '70' },
    namespace: { [key.disruptionDuration]: '4h' },
    kind: 'frozen',
    problems: [namespace('MissingSchedule', key.disruptionSchedule)],
    cel: false,
  },
  {
    name: "the Namespace's unknown key, which is the Namespace's own problem",
    workload: { [key.spotPercentage]: '70' },
    namespace: { 'spotalis.io/pause': 'true' },
    kind: 'valid',
    problems: [],
    cel: true,
  },
];

/** Drives the parser's test here and the test of the chart's policy, which warns when annotations are applied. */
export const policyCases: readonly PolicyCase[] = [...numbers, ...windows, ...rest, ...defaults];
