import { meets } from '../policy/selector.ts';
import type { NodeLabel } from './label.ts';
import type { NodeRequirement } from '../cluster/pod-spec.ts';

export function requirementOf(label: NodeLabel): NodeRequirement {
  if (label.op === 'absent') return { key: label.key, operator: 'DoesNotExist' };
  return { key: label.key, operator: label.op === 'equals' ? 'In' : 'NotIn', values: [label.value] };
}

export function isSameRequirement(a: NodeRequirement, b: NodeRequirement): boolean {
  const values = a.values ?? [];
  const others = b.values ?? [];
  return (
    a.key === b.key &&
    a.operator === b.operator &&
    values.length === others.length &&
    values.every((value, index) => value === others[index])
  );
}

function isMet({ operator, values }: NodeRequirement, value: string | undefined): boolean {
  // These two compare numbers, and no capacity label is one: whatever they ask for, it is not about the type.
  if (operator === 'Gt' || operator === 'Lt') return true;
  return meets(value, operator, values ?? []);
}

/** No label value looks like this, so it stands for every value that nobody mentions. */
const SOME_OTHER_VALUE = '\u0000';

/**
 * Whether one node could meet all of these requirements at once. Each key is a question of its own, and only the
 * values that are mentioned, any other value and no label at all can make a difference.
 */
export function canAllBeMet(requirements: readonly NodeRequirement[]): boolean {
  return requirements.every(({ key }, index) => {
    const sameKey = requirements.filter((other) => other.key === key);
    if (requirements.findIndex((other) => other.key === key) < index) return true;
    const candidates = [undefined, SOME_OTHER_VALUE, ...sameKey.flatMap(({ values }) => values ?? [])];
    return candidates.some((value) => sameKey.every((requirement) => isMet(requirement, value)));
  });
}
