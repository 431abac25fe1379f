import { addResources, type Resources } from '../cluster/resources.ts';
import { type Size, type SizeField, sizeFields, type Sizes } from '../cluster/size.ts';
import type { ResizableContainer, ResizablePod } from './resizable-pod.ts';

/** One amount of one container that a resize changes. */
export interface Change {
  readonly container: string;
  readonly field: SizeField;
  readonly resource: string;
  /** Null where nothing is set. */
  readonly from: number | null;
  readonly to: number;
}

/** What differs from the spec. A container that the pod lacks is new from its first amount on. */
export function changesOf(pod: ResizablePod, to: Sizes): readonly Change[] {
  const changes: Change[] = [];
  for (const [container, size] of to) {
    const spec = pod.containers.find(({ name }) => name === container)?.spec;
    for (const field of sizeFields) {
      for (const [resource, amount] of Object.entries(size[field])) {
        const from = spec?.[field][resource] ?? null;
        if (from !== amount) changes.push({ container, field, resource, from, to: amount });
      }
    }
  }
  return changes;
}

/** The changes as a resize carries them. */
export function sizesOf(changes: readonly Change[]): Sizes {
  const sizes = new Map<string, Record<SizeField, Record<string, number>>>();
  for (const { container, field, resource, to } of changes) {
    const size = sizes.get(container) ?? { requests: {}, limits: {} };
    size[field][resource] = to;
    sizes.set(container, size);
  }
  return sizes;
}

/** The container's spec after the changes. */
export const sizeAfter = ({ spec }: ResizableContainer, change: Size | undefined): Size => ({
  requests: { ...spec.requests, ...change?.requests },
  limits: { ...spec.limits, ...change?.limits },
});

/** What the changes take of a node in all; less than nothing where they give room back. */
export function roomOf(changes: readonly Change[]): Resources {
  let room: Resources = {};
  for (const { field, resource, from, to } of changes) {
    if (field === 'requests') room = addResources(room, { [resource]: to - (from ?? 0) });
  }
  return room;
}

export const isIncrease = ({ from, to }: Change): boolean => from === null || to > from;

/**
 * How far an amount may be off and still be what was asked for, in millicores and bytes. The systemd driver rounds
 * quotas up to 10 ms of a second, the conversion of shares to weights loses a hundredth, and the kernel counts memory
 * in pages.
 */
const slack: Readonly<Record<string, Readonly<Record<SizeField, number>>>> = {
  cpu: { requests: 2, limits: 10 },
  memory: { requests: 0, limits: 4096 },
};

function isClose(field: SizeField, resource: string, actual: number, wanted: number): boolean {
  const share = resource === 'cpu' ? wanted / 100 : 0;
  return Math.abs(actual - wanted) <= Math.max(slack[resource]?.[field] ?? 0, share);
}

/** Whether every amount that is wanted is there. Amounts that are not named do not matter. */
export const hasAmounts = (field: SizeField, actual: Resources, wanted: Resources): boolean =>
  Object.entries(wanted).every(([resource, amount]) =>
    isClose(field, resource, actual[resource] ?? 0, amount),
  );
