import type { StructureReading } from '@spotalis/units';
import type { LabelSelector } from './selector.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const isMap = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isText = (value: unknown): value is string => typeof value === 'string';
export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);
export const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

/** The first of the map's keys that is not known. */
export const stray = (map: Fields, known: readonly string[]): string | undefined =>
  Object.keys(map).find((name) => !known.includes(name));

const isLabelSelector = (raw: unknown): raw is LabelSelector => selectorFault(raw) === undefined;

const readLabelSelector = (raw: unknown): StructureReading<LabelSelector> =>
  isLabelSelector(raw) ? { value: raw } : { problem: selectorFault(raw) ?? '' };

function selectorFault(raw: unknown): string | undefined {
  if (!isMap(raw)) return `${show(raw)} is no map`;
  const strange = stray(raw, ['matchLabels', 'matchExpressions']);
  if (strange !== undefined) return `${strange} is neither matchLabels nor matchExpressions`;
  const { matchLabels = {}, matchExpressions = [] } = raw;
  if (!isMap(matchLabels)) return 'matchLabels is no map';
  const wrong = Object.entries(matchLabels).find(([, value]) => !isText(value));
  if (wrong !== undefined) return `matchLabels.${wrong[0]} is no text: put ${show(wrong[1])} in quotes`;
  if (!Array.isArray(matchExpressions)) return 'matchExpressions is no list';
  for (const [index, item] of matchExpressions.entries()) {
    const fault = requirementFault(item);
    if (fault !== undefined) return `matchExpressions[${index}] ${fault}`;
  }
  return undefined;
}

export function requirementFault(item: unknown): string | undefined {
  if (!isMap(item) || !isText(item['key']) || item['key'] === '') return 'has no key';
  const strange = stray(item, ['key', 'operator', 'values']);
  if (strange !== undefined) return `has an unknown field ${strange}`;
  const { operator, values } = item;
  if (operator === 'In' || operator === 'NotIn') {
    return isTexts(values) && values.length > 0
      ? undefined
      : `needs values, a list of texts, for ${operator}`;
  }
  if (operator !== 'Exists' && operator !== 'DoesNotExist') {
    return `has operator ${show(operator)}, which is none of In, NotIn, Exists, DoesNotExist`;
  }
  return values === undefined || (isTexts(values) && values.length === 0)
    ? undefined
    : `takes no values with ${operator}`;
}

/** A setting that holds a label selector. */
export const labelSelector = {
  format: 'structure',
  what: 'a label selector',
  example: '{ matchLabels: { team: web } }',
  read: readLabelSelector,
} as const;
