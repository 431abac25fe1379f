/** Stable names of what can be wrong with a custom resource. */
export type ResourceProblemCode =
  /** The object is of another kind or group. */
  | 'WrongKind'
  /** A required field is absent. */
  | 'Missing'
  /** A value of a wrong type, form or size. */
  | 'Invalid'
  /** Two items of a list that may not be equal. */
  | 'Duplicate'
  /** Fields that are valid by themselves contradict each other. */
  | 'Conflict'
  /** The three signs of an object that a newer version wrote. */
  | 'UnknownVersion'
  | 'UnknownField'
  | 'UnknownValue';

export interface ResourceProblem {
  readonly code: ResourceProblemCode;
  /** As the API server names it: `spec.matchers[0].kinds`. */
  readonly field: string;
  /** One sentence for people: the field, its value, what is expected, a valid example. */
  readonly message: string;
}

const newer: ReadonlySet<ResourceProblemCode> = new Set(['UnknownVersion', 'UnknownField', 'UnknownValue']);

export const isNewer = (code: ResourceProblemCode): boolean => newer.has(code);

/** An Event's note holds 1 KiB. */
export const LONGEST_SHOWN = 60;

/** Code points, as the API server counts. */
export const lengthOf = (text: string): number => Array.from(text).length;

/** At most so many code points: a character that is cut in half comes back from the API server as another one. */
export function cutTo(length: number, text: string): string {
  if (text.length <= length) return text;
  // Twice as many code units hold enough code points, and a text of 1 MiB is not split for nothing.
  return Array.from(text.slice(0, 2 * length))
    .slice(0, length)
    .join('');
}

const cut = (text: string): string => {
  const short = cutTo(LONGEST_SHOWN, text);
  return short === text ? text : `${short}...`;
};

/** Any value that JSON has, short and on one line. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value));
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null || value === undefined) return 'null';
  return Array.isArray(value) ? 'a list' : 'an object';
}
