import { Cron } from 'croner';
import type { Parsed } from './value.ts';

/** When windows open: five fields of cron in a time zone. */
export interface Schedule {
  /** The five fields, without the prefix. */
  readonly pattern: string;
  /** An IANA name; `UTC` when the annotation names none. */
  readonly timeZone: string;
}

const prefix = /^CRON_TZ=(\S+) +(.*)$/;

const number = String.raw`\d{1,2}`;
const name = '[A-Za-z]{3}';
const listOf = (value: string): string => {
  const item = String.raw`(?:[*?]|${value}(?:-${value})?)(?:/\d{1,2})?`;
  return `${item}(?:,${item})*`;
};
const crontab = (...fields: readonly string[]): RegExp => new RegExp(`^${fields.map(listOf).join(' +')}$`);
/**
 * The cron that people know from crontab(5). The library reads more (seconds, nicknames, `L`, `W`, `#`), which
 * other readers of the same annotation do not. What is wrong with a number it says better itself.
 */
const fiveFields = crontab(number, number, number, `(?:${number}|${name})`, `(?:${number}|${name})`);
/** The library lets pass numbers with a step that are beyond the field's range (hour `59/2`), and never opens. */
const fiveRanges = crontab(
  String.raw`[0-5]?\d`,
  String.raw`(?:[01]?\d|2[0-3])`,
  String.raw`(?:0?[1-9]|[12]\d|3[01])`,
  `(?:0?[1-9]|1[0-2]|${name})`,
  `(?:0?[0-7]|${name})`,
);

/** Offsets (`+02:00`) have no summer time, so they are no places. */
function isTimeZone(timeZone: string): boolean {
  if (!/^[A-Za-z]/.test(timeZone)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Any date will do to see whether a schedule ever opens; this one is fixed so that the answer is, too. */
const SOME_LEAP_YEAR = new Date(Date.UTC(2000, 0, 1));

function opens(schedule: Schedule): boolean {
  const cron = new Cron(schedule.pattern, {
    mode: '5-part',
    timezone: schedule.timeZone,
    // `5/15` means from 5 to the end by 15, as in Vixie cron and in Go's robfig/cron.
    sloppyRanges: true,
  });
  return cron.nextRun(SOME_LEAP_YEAR) !== null;
}

function parse(text: string): Parsed<Schedule> {
  const [, timeZone = 'UTC', pattern = text] = prefix.exec(text) ?? [];
  if (!isTimeZone(timeZone)) {
    return { ok: false, expected: 'five fields of cron after a time zone such as Europe/Berlin' };
  }
  if (!fiveFields.test(pattern)) return { ok: false, expected: 'five fields of cron' };
  try {
    const schedule = { pattern, timeZone };
    if (!opens(schedule)) return { ok: false, expected: 'a schedule with a date that exists' };
    if (fiveRanges.test(pattern)) return { ok: true, value: schedule };
    return { ok: false, expected: 'five fields of cron (a number is out of range)' };
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^\w+: /, '') : String(error);
    return { ok: false, expected: `five fields of cron (${why})` };
  }
}

/**
 * Parsing takes about 0.1 ms, and up to 40 ms for a date that does not exist; admissions read the same few texts
 * again and again. Texts come from users, hence the bound.
 */
const remembered = new Map<string, Parsed<Schedule>>();
const MOST_REMEMBERED = 1_000;

export function parseSchedule(text: string): Parsed<Schedule> {
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const parsed = parse(text);
  if (remembered.size >= MOST_REMEMBERED) remembered.clear();
  remembered.set(text, parsed);
  return parsed;
}
