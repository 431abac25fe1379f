/** A selection by labels; all parts have to hold, an empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: 'Equal' | 'Exists';
  readonly value?: string;
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  readonly tolerationSeconds?: number;
}

type Read<T> = { readonly value: T } | { readonly problem: string };
type Fields = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

/** The first of the map's keys that is not known. */
const stray = (map: Fields, known: readonly string[]): string | undefined =>
  Object.keys(map).find((name) => !known.includes(name));

export const labelSelectorExample = '{ matchLabels: { team: web } }';

const isLabelSelector = (raw: unknown): raw is LabelSelector => selectorFault(raw) === undefined;

export const readLabelSelector = (raw: unknown): Read<LabelSelector> =>
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

function requirementFault(item: unknown): string | undefined {
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

export const tolerationsExample = '[{ key: spot, operator: Exists, effect: NoSchedule }]';

const tolerationFields = {
  key: isText,
  operator: (value: unknown) => value === 'Equal' || value === 'Exists',
  value: isText,
  effect: (value: unknown) => value === 'NoSchedule' || value === 'PreferNoSchedule' || value === 'NoExecute',
  tolerationSeconds: Number.isInteger,
} as const;

const areTolerations = (raw: unknown): raw is readonly Toleration[] => tolerationsFault(raw) === undefined;

export const readTolerations = (raw: unknown): Read<readonly Toleration[]> =>
  areTolerations(raw) ? { value: raw } : { problem: tolerationsFault(raw) ?? '' };

function tolerationsFault(raw: unknown): string | undefined {
  if (!Array.isArray(raw)) return `${show(raw)} is no list`;
  for (const [index, item] of raw.entries()) {
    const fault = tolerationFault(item);
    if (fault !== undefined) return `entry ${index} ${fault}`;
  }
  return undefined;
}

function tolerationFault(item: unknown): string | undefined {
  if (!isMap(item)) return 'is no map';
  const strange = stray(item, Object.keys(tolerationFields));
  if (strange !== undefined) return `has an unknown field ${strange}`;
  const wrong = Object.entries(tolerationFields).find(([name, fits]) => name in item && !fits(item[name]));
  if (wrong !== undefined) return `has ${wrong[0]} ${show(item[wrong[0]])}`;
  const bare = item['key'] === undefined && item['operator'] !== 'Exists';
  return bare ? 'has no key, which only operator Exists may go without' : undefined;
}

/** One condition on the labels of a node, as in a pod's node affinity. */
export interface NodeRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  readonly values?: readonly string[];
}

export const nodeRequirementsExample = '[{ key: disk, operator: In, values: [ssd] }]';

const areNodeRequirements = (raw: unknown): raw is readonly NodeRequirement[] =>
  nodeRequirementsFault(raw) === undefined;

export const readNodeRequirements = (raw: unknown): Read<readonly NodeRequirement[]> =>
  areNodeRequirements(raw) ? { value: raw } : { problem: nodeRequirementsFault(raw) ?? '' };

function nodeRequirementsFault(raw: unknown): string | undefined {
  if (!Array.isArray(raw)) return `${show(raw)} is no list`;
  for (const [index, item] of raw.entries()) {
    const fault = boundFault(item) ?? requirementFault(isBound(item) ? { ...item, operator: 'In' } : item);
    if (fault !== undefined) return `entry ${index} ${fault}`;
  }
  return undefined;
}

const isBound = (item: unknown): item is Fields =>
  isMap(item) && (item['operator'] === 'Gt' || item['operator'] === 'Lt');

/** Beyond what `In` needs: one whole number, as text. */
function boundFault(item: unknown): string | undefined {
  if (!isBound(item)) return undefined;
  const { values } = item;
  const isNumber = isTexts(values) && values.length === 1 && /^-?\d+$/.test(values[0] ?? '');
  return isNumber ? undefined : `needs values with one whole number as text for ${show(item['operator'])}`;
}
