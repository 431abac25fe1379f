import type { Labels } from './keys.ts';

/** A Kubernetes label selector, as in `scope.namespaceSelector`. An empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelRequirement[];
}

export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

/** As in Kubernetes, an object without the label is in no set, and so outside of every set. */
const tests: Readonly<
  Record<LabelRequirement['operator'], (value: string | undefined, values: readonly string[]) => boolean>
> = {
  In: (value, values) => value !== undefined && values.includes(value),
  NotIn: (value, values) => value === undefined || !values.includes(value),
  Exists: (value) => value !== undefined,
  DoesNotExist: (value) => value === undefined,
};

/** Whether a label's value, undefined where the label is absent, meets one requirement. */
export function meets(
  value: string | undefined,
  operator: LabelRequirement['operator'],
  values: readonly string[] = [],
): boolean {
  return tests[operator](value, values);
}

export function selects(selector: LabelSelector, labels: Labels): boolean {
  for (const key of Object.keys(selector.matchLabels ?? {})) {
    if (labels[key] !== selector.matchLabels?.[key]) return false;
  }
  return (selector.matchExpressions ?? []).every(({ key, operator, values }) =>
    meets(labels[key], operator, values),
  );
}
