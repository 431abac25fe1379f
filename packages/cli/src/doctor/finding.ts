import type { FindingId } from './known.ts';
import type { Picture } from './picture/picture.ts';

export type Severity = 'error' | 'warning' | 'info';

/** One thing that is wrong, or that one should know of. The names are those of the columns for programs. */
export interface Finding {
  /** Stable; what a script or a search asks for. */
  readonly id: FindingId;
  /** `error`: something does not work. `warning`: something is not as it was asked for. `info`: as it may be meant. */
  readonly severity: Severity;
  /** `Kind namespace/name`, or without the namespace. */
  readonly object: string;
  readonly what: string;
  readonly why: string;
  /** A command, or where to read on. */
  readonly remedy: string;
}

/** Everything of one kind that is wrong with a picture. */
export type Check = (picture: Picture) => readonly Finding[];

const weights: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };

/** The worst first. */
export const bySeverity = (a: Finding, b: Finding): number => weights[a.severity] - weights[b.severity];

export const isFault = ({ severity }: Finding): boolean => severity !== 'info';
