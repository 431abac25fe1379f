import type { ContainerName } from './provider.ts';
import type { DropCount } from './reading.ts';

/** 10,000 cores: more than any machine has. */
const HIGHEST_MILLICORES = 10_000_000;
/** 1 PiB: more than any machine has. */
const HIGHEST_BYTES = 2 ** 50;

export type MeasuredResource = 'cpu' | 'memory';

/** The amount, or why there is none. */
export function plausible(resource: MeasuredResource, amount: number): number | 'NotANumber' | 'OutOfRange' {
  if (!Number.isFinite(amount)) return 'NotANumber';
  const highest = resource === 'cpu' ? HIGHEST_MILLICORES : HIGHEST_BYTES;
  return amount >= 0 && amount <= highest ? amount : 'OutOfRange';
}

/** The same, for a value among others of an answer: the others stand. */
export function amountOf(resource: MeasuredResource, amount: number, drops: DropCount): number | null {
  const value = plausible(resource, amount);
  if (typeof value === 'number') return value;
  drops.add(value);
  return null;
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a JSON object; null when the value is none. */
export function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : null;
}

/** As Kubernetes has names: a key made of them is never that of another container. */
const objectName = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;

/** Null, and counted, when one of the three is no name. */
export function containerNameOf(
  namespace: unknown,
  pod: unknown,
  container: unknown,
  drops: DropCount,
): ContainerName | null {
  if (isName(namespace) && isName(pod) && isName(container)) return { namespace, pod, container };
  drops.add('Unlabelled');
  return null;
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 253 && objectName.test(value);

export const containerKey = ({ namespace, pod, container }: ContainerName): string =>
  [namespace, pod, container].join('/');
