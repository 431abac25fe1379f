import { parseQuantity } from '@spotalis/units';
import { type Annotations, resizeKeys } from '../policy/keys.ts';
import type { ResizablePod } from './resizable-pod.ts';
import type { ModuleName } from '../disruption/intent.ts';
import type { SizeField } from '../cluster/size.ts';

/** CPU limits that were there before the first loan, by container, in millicores. */
export type Originals = ReadonlyMap<string, number>;

const none: Originals = new Map();

/** Null where the annotation is there and cannot be read: then nobody knows what is owed. */
export function readOriginals(annotations: Annotations): Originals | null {
  const text = annotations[resizeKeys.originalCpuLimits];
  if (text === undefined) return none;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
    const originals = new Map<string, number>();
    for (const [container, quantity] of Object.entries(parsed)) {
      const cores = typeof quantity === 'string' ? parseQuantity(quantity) : null;
      if (cores === null || !(cores > 0)) return null;
      originals.set(container, Math.ceil(Number((cores * 1000).toFixed(9))));
    }
    return originals;
  } catch {
    return null;
  }
}

export const writeOriginals = (originals: Originals): string =>
  JSON.stringify(Object.fromEntries([...originals].map(([name, amount]) => [name, `${amount}m`])));

/**
 * What to write before a resize so that it can be given back. An original that is there already is the older one and
 * stays: the next one would be what was lent.
 */
export function rememberedValue(
  annotations: Annotations,
  { annotation, value }: { readonly annotation: string; readonly value: string },
): string {
  if (annotation !== resizeKeys.originalCpuLimits) return value;
  const added = readOriginals({ [annotation]: value });
  const known = readOriginals(annotations);
  return added === null || known === null ? value : writeOriginals(new Map([...added, ...known]));
}

/** Whether every container has its original again, so that the annotation may go. */
export const owesNothing = (pod: ResizablePod, originals: Originals | null): boolean =>
  originals !== null &&
  [...originals].every(([container, original]) => {
    const found = pod.containers.find(({ name }) => name === container);
    return found === undefined || found.spec.limits['cpu'] === original;
  });

/** Who may write a CPU limit of a pod. */
export interface Loans {
  /** Whether allocation may lend to the container: an AllocationPolicy in `Auto` covers it, and it is eligible. */
  readonly covers: (container: string) => boolean;
  readonly originals: Originals | null;
}

/**
 * The module that may write an amount. A CPU limit stays with allocation while a loan stands, also when no policy covers
 * the container any more: else right-sizing would write over what is owed.
 */
export function ownerOf(
  container: string,
  field: SizeField,
  resource: string,
  { covers, originals }: Loans,
): ModuleName {
  if (field !== 'limits' || resource !== 'cpu') return 'rightsizing';
  const isLent = originals === null || originals.has(container);
  return isLent || covers(container) ? 'allocation' : 'rightsizing';
}
