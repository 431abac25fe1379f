import type { PodView } from '@spotalis/core';
import { type JsonObject, objectAt } from './json.ts';

type Check = (value: unknown) => boolean;

/** The API server writes absent fields as absent, or as null. */
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null || check(value);

const isText: Check = (value) => typeof value === 'string';
const isFlagOrNumber: Check = (value) => typeof value === 'number' || typeof value === 'boolean';

const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

const isTexts: Check = (value) => {
  const map = objectAt(value);
  return map !== undefined && Object.values(map).every(isText);
};

const withFields =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) => {
    const map = objectAt(value);
    return map !== undefined && Object.entries(fields).every(([name, check]) => check(map[name]));
  };

const operators = new Set<unknown>(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']);

const isRequirement = withFields({
  key: isText,
  operator: (value) => operators.has(value),
  values: optional(listOf(isText)),
});

const isTerm = withFields({
  matchExpressions: optional(listOf(isRequirement)),
  matchFields: optional(listOf(isRequirement)),
});

const isAffinity = withFields({
  nodeAffinity: optional(
    withFields({
      requiredDuringSchedulingIgnoredDuringExecution: optional(
        withFields({ nodeSelectorTerms: optional(listOf(isTerm)) }),
      ),
    }),
  ),
});

const isToleration = withFields({
  key: optional(isText),
  operator: optional(isText),
  value: optional(isText),
  effect: optional(isText),
  tolerationSeconds: optional(isFlagOrNumber),
});

const isPod = withFields({
  metadata: withFields({ name: optional(isText), labels: optional(isTexts), annotations: optional(isTexts) }),
  spec: withFields({
    nodeSelector: optional(isTexts),
    affinity: optional(isAffinity),
    tolerations: optional(listOf(isToleration)),
    topologySpreadConstraints: optional(listOf(withFields({ topologyKey: isText }))),
  }),
});

/** A pod in which every field that is read later has the right type. */
export type ReadablePod = PodView & { readonly metadata: { readonly name?: string | null } };

/** Undefined when a field has a wrong type. The API server sends no such pod, but anyone may call. */
export function readPod(raw: JsonObject): ReadablePod | undefined {
  // isPod checks each field of the type.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return isPod(raw) ? (raw as unknown as ReadablePod) : undefined;
}
