import { parseQuantity } from '@spotalis/units';

/**
 * Amounts by the name of the resource: cpu in millicores, memory and storage in bytes, everything else (`pods`,
 * devices) in pieces. A resource that is absent is 0.
 */
export type Resources = Readonly<Record<string, number>>;

/** Quantities as Kubernetes writes them, by resource. */
export type Quantities = Readonly<Record<string, string | number>>;

/** `round`: requests are rounded up and room is rounded down, so that a tight fit is never made up. */
function amountsOf(quantities: Quantities | null | undefined, round: (amount: number) => number): Resources {
  const amounts: Record<string, number> = {};
  for (const [name, text] of Object.entries(quantities ?? {})) {
    const amount = parseQuantity(String(text));
    if (amount === null) continue;
    // 9 digits are more than any quantity has, and hide that 0.1 + 0.2 is not 0.3.
    amounts[name] = round(Number((name === 'cpu' ? amount * 1000 : amount).toFixed(9)));
  }
  return amounts;
}

/** A Node's `status.allocatable`. */
export function readAllocatable(quantities: Quantities): Resources {
  return amountsOf(quantities, Math.floor);
}

/** Requests or limits of one container, and nothing that is not written there. */
export function readAmounts(quantities: Quantities | null | undefined): Resources {
  return amountsOf(quantities, Math.ceil);
}

/** The part of a pod's spec that says how much room it takes. */
export interface RequestingSpec {
  readonly containers?: readonly RequestingContainer[] | null;
  readonly initContainers?: readonly RequestingContainer[] | null;
  readonly overhead?: Quantities | null;
  readonly resources?: Demands | null;
}

export interface RequestingContainer {
  readonly restartPolicy?: string | null;
  readonly resources?: Demands | null;
}

interface Demands {
  readonly requests?: Quantities | null;
  readonly limits?: Quantities | null;
}

/** A limit is a request where there is no other: the API server writes that on pods, and not on templates. */
const requestsOf = ({ resources }: RequestingContainer): Resources =>
  amountsOf({ ...resources?.limits, ...resources?.requests }, Math.ceil);

function combine(a: Resources, b: Resources, by: (x: number, y: number) => number): Resources {
  const both: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) both[name] = by(both[name] ?? 0, amount);
  return both;
}

const plus = (x: number, y: number): number => x + y;
const minus = (x: number, y: number): number => x - y;

/**
 * What the scheduler reserves for a pod: its containers and sidecars together, or what its init containers need one
 * after another beside the sidecars started before them, whichever is more; requests of the whole pod go before that;
 * and the overhead on top. With 1 under `pods`.
 */
export function podRequests(spec: RequestingSpec): Resources {
  let sidecars: Resources = {};
  let starting: Resources = {};
  for (const container of spec.initContainers ?? []) {
    const requests = requestsOf(container);
    if (container.restartPolicy === 'Always') {
      sidecars = combine(sidecars, requests, plus);
    } else {
      starting = combine(starting, combine(sidecars, requests, plus), Math.max);
    }
  }
  let running = sidecars;
  for (const container of spec.containers ?? []) running = combine(running, requestsOf(container), plus);
  const needed = {
    ...amountsOf(spec.resources?.limits, Math.ceil),
    ...combine(running, starting, Math.max),
    ...amountsOf(spec.resources?.requests, Math.ceil),
  };
  return { ...combine(needed, amountsOf(spec.overhead, Math.ceil), plus), pods: 1 };
}

export function addResources(a: Resources, b: Resources): Resources {
  return combine(a, b, plus);
}

export function largerResources(a: Resources, b: Resources): Resources {
  return combine(a, b, Math.max);
}

export function subtractResources(from: Resources, taken: Resources): Resources {
  return combine(from, taken, minus);
}

export function hasRoom(free: Resources, requests: Resources): boolean {
  return Object.entries(requests).every(([name, amount]) => amount <= 0 || (free[name] ?? 0) >= amount);
}
