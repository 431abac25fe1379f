import { Cron } from 'croner';
import type { DisruptionWindow } from '../policy/policy.ts';
import type { Schedule } from '../policy/schedule.ts';

/**
 * Opening times as the library finds them. What a summer time change makes of them: a time that does not exist opens
 * right after the gap, a time that exists twice opens at its first, and a schedule of every hour or minute opens in
 * both. A window lasts as long as it says in real time, whatever the clocks do meanwhile.
 */
function openingsOf(schedule: Schedule): Cron {
  const known = crons.get(schedule);
  if (known !== undefined) return known;
  const cron = new Cron(schedule.pattern, {
    mode: '5-part',
    timezone: schedule.timeZone,
    // As in `parseSchedule`.
    sloppyRanges: true,
  });
  crons.set(schedule, cron);
  return cron;
}

/** Schedules are remembered by `parseSchedule`, so that the same text gives the same object. */
const crons = new WeakMap<Schedule, Cron>();

/** The rarest schedule, February 29, opens at least every eight years; looking back further finds nothing more. */
const LONGEST_LOOK_BACK_MS = 10 * 366 * 86_400_000;

/** The first opening after this time, not at it; null when there is none. */
function openingAfter({ schedule }: DisruptionWindow, timeMs: number): number | null {
  return openingsOf(schedule).nextRun(new Date(timeMs))?.getTime() ?? null;
}

/** Open from each opening, inclusive, for the duration, exclusive. */
export function isOpen(window: DisruptionWindow, nowMs: number): boolean {
  const opening = openingAfter(window, nowMs - Math.min(window.durationMs, LONGEST_LOOK_BACK_MS));
  return opening !== null && opening <= nowMs;
}

/** When a window that is closed opens next; of an open one, when it would open again. */
export function nextOpening(window: DisruptionWindow, nowMs: number): number | null {
  return openingAfter(window, nowMs);
}

/** How many windows without a gap between them are followed to find the end of the last. */
const MOST_FOLLOWED = 100;

/** When an open window closes; null when it is closed, or when windows follow each other for too long to tell. */
export function closing(window: DisruptionWindow, nowMs: number): number | null {
  if (!isOpen(window, nowMs)) return null;
  let latest = lastOpening(window, nowMs);
  for (let followed = 0; latest !== null && followed < MOST_FOLLOWED; followed++) {
    const end = latest + window.durationMs;
    // An opening at the very end keeps it open.
    const next = lastOpening(window, end);
    if (next === latest) return end;
    latest = next;
  }
  return null;
}

/** The latest opening up to and at this time. */
function lastOpening({ schedule }: DisruptionWindow, timeMs: number): number | null {
  // The library looks strictly before, and in whole seconds.
  const reference = new Date((Math.floor(timeMs / 1000) + 1) * 1000);
  return openingsOf(schedule).previousRuns(1, reference)[0]?.getTime() ?? null;
}

/** How often each of several windows is asked for its next opening before giving up on a common one. */
const MOST_STEPS = 400;
const A_YEAR_MS = 366 * 86_400_000;

/** The next time at which all of these are open, `nowMs` included; null when there is none within a year. */
export function nextCommonOpening(windows: readonly DisruptionWindow[], nowMs: number): number | null {
  let timeMs = nowMs;
  for (let step = 0; step < MOST_STEPS && timeMs <= nowMs + A_YEAR_MS; step++) {
    const at = timeMs;
    const closed = windows.filter((window) => !isOpen(window, at));
    if (closed.length === 0) return timeMs;
    const openings = closed.map((window) => openingAfter(window, at));
    timeMs = Math.max(...openings.map((opening) => opening ?? Number.POSITIVE_INFINITY));
  }
  return null;
}
