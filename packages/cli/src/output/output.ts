import type { Style } from '@spotalis/units';
import { stringify } from 'yaml';

export type Format = 'table' | 'wide' | 'json' | 'yaml';

/** Where a command speaks. */
export interface Output {
  readonly style: Style;
  /** Columns of the terminal; undefined in a pipe. */
  readonly width: number | undefined;
  /** What was asked for: a line feed is added. */
  write(text: string): void;
  /** Beside it, for people, on stderr. */
  note(text: string): void;
}

export const formatOf = (value: string | undefined): Format =>
  value === 'wide' || value === 'json' || value === 'yaml' ? value : 'table';

/** A document for programs; undefined when people read. */
export function documentOf(format: Format, value: unknown): string | undefined {
  if (format === 'json') return JSON.stringify(value, null, 2);
  return format === 'yaml' ? stringify(value).trimEnd() : undefined;
}

/** How long ago, or until when, in the largest unit that says enough. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes}m`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.round(hours / 24)}d`;
}
