/** Why a reading failed. */
export type UsageProblemReason =
  /** No connection, or it broke. */
  | 'Unreachable'
  /** No complete answer in time. */
  | 'Late'
  /** An answer that is no success. */
  | 'Refused'
  /** More bytes than an answer may have. */
  | 'TooLarge'
  /** Not what the provider promises to answer. */
  | 'Malformed'
  /** The source says that something is missing. */
  | 'Partial'
  /** The measurements are from too long ago. */
  | 'Stale'
  /** A file with a token or a certificate cannot be read. */
  | 'Credentials';

export const usageProblemReasons: readonly UsageProblemReason[] = [
  'Unreachable',
  'Late',
  'Refused',
  'TooLarge',
  'Malformed',
  'Partial',
  'Stale',
  'Credentials',
];

export interface UsageProblem {
  readonly reason: UsageProblemReason;
  /** Who was asked what, and what came back. */
  readonly message: string;
}

/** Why one value of an answer is left out while the others stand. */
export type DropReason =
  /** NaN, or infinite. */
  | 'NotANumber'
  /** Below zero, or more than any machine has. */
  | 'OutOfRange'
  /** It does not say which container it is of. */
  | 'Unlabelled'
  /** The same container twice: the larger value stands. */
  | 'Duplicate'
  /** It is of another time than what was asked for. */
  | 'OutsideSpan';

export const dropReasons: readonly DropReason[] = [
  'NotANumber',
  'OutOfRange',
  'Unlabelled',
  'Duplicate',
  'OutsideSpan',
];

export type UsageReading<T> =
  | { readonly kind: 'read'; readonly value: T; readonly dropped: Drops }
  | { readonly kind: 'failed'; readonly problem: UsageProblem };

/** How many values are left out, by reason. A reason that is absent is 0. */
export type Drops = Partial<Readonly<Record<DropReason, number>>>;

export const noDrops: Drops = {};

export class DropCount {
  readonly #counts: Partial<Record<DropReason, number>> = {};

  add(reason: DropReason): void {
    this.#counts[reason] = (this.#counts[reason] ?? 0) + 1;
  }

  get counts(): Drops {
    return { ...this.#counts };
  }
}

export function failed(reason: UsageProblemReason, message: string): UsageReading<never> {
  return { kind: 'failed', problem: { reason, message } };
}

const EXCERPT_LENGTH = 200;

/** The beginning of a foreign text, on one line. */
export function excerpt(text: string): string {
  // A slice first: the text may have megabytes.
  const line = text
    .slice(0, 2 * EXCERPT_LENGTH)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  if (line === '') return '(empty)';
  return line.length > EXCERPT_LENGTH ? `${line.slice(0, EXCERPT_LENGTH)}...` : line;
}
