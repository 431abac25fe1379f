import { setTimeout as pause } from 'node:timers/promises';

/** Waits for a condition, asking every few milliseconds; fails at the deadline with what was waited for. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 5_000,
): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`gave up after ${deadlineMs} ms waiting for: ${what}`);
    await pause(5);
  }
}
