import type { StructureReading } from '@spotalis/units';
import type { NodeRequirement, Toleration } from '../cluster/pod-spec.ts';
import {
  type Fields,
  isMap,
  isText,
  isTexts,
  requirementFault,
  show,
  stray,
} from '../policy/written-selector.ts';

const tolerationFields = {
  key: isText,
  operator: (value: unknown) => value === 'Equal' || value === 'Exists',
  value: isText,
  effect: (value: unknown) => value === 'NoSchedule' || value === 'PreferNoSchedule' || value === 'NoExecute',
  tolerationSeconds: Number.isInteger,
} as const;

const areTolerations = (raw: unknown): raw is readonly Toleration[] => tolerationsFault(raw) === undefined;

const readTolerations = (raw: unknown): StructureReading<readonly Toleration[]> =>
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

const areNodeRequirements = (raw: unknown): raw is readonly NodeRequirement[] =>
  nodeRequirementsFault(raw) === undefined;

const readNodeRequirements = (raw: unknown): StructureReading<readonly NodeRequirement[]> =>
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

/** A setting that holds tolerations. */
export const tolerations = {
  format: 'structure',
  what: 'a list of tolerations',
  example: '[{ key: spot, operator: Exists, effect: NoSchedule }]',
  read: readTolerations,
} as const;

/** A setting that holds requirements of a node affinity. */
export const nodeRequirements = {
  format: 'structure',
  what: 'a list of node affinity requirements',
  example: '[{ key: disk, operator: In, values: [ssd] }]',
  read: readNodeRequirements,
} as const;
