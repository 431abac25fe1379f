import { parseDuration } from '@spotalis/units';

/** The API server says how long it waits in the URL: `?timeout=2s`. */
export function callTimeoutMs(url: string): number | undefined {
  const question = url.indexOf('?');
  const text = question < 0 ? null : new URLSearchParams(url.slice(question)).get('timeout');
  const timeoutMs = text === null ? null : parseDuration(text);
  return timeoutMs === null || timeoutMs <= 0 ? undefined : timeoutMs;
}
