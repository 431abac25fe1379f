/** Reads foreign JSON: a value of another type counts as absent and never throws. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function objectAt(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textAt(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function listAt(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
