import type { Resources } from '../cluster/resources.ts';
import { addResources } from '../cluster/resources.ts';
import { type Size, sizeFields } from '../cluster/size.ts';
import type { ResizeHold } from './hold.ts';

/** One item of a LimitRange, in millicores and bytes. */
export interface LimitRangeItem {
  readonly type: 'Pod' | 'Container';
  readonly min: Resources;
  readonly max: Resources;
  readonly default: Resources;
  readonly defaultRequest: Resources;
  /** Limit by request. */
  readonly maxLimitRequestRatio: Resources;
}

/** A ResourceQuota that counts every pod. One with scopes is left to the API server. */
export interface QuotaView {
  readonly name: string;
  /** By the name of the quota's resource, as `requests.cpu`: `status.hard` less `status.used`. */
  readonly free: Resources;
}

export interface NamedSize {
  readonly name: string;
  readonly size: Size;
}

/**
 * The LimitRanger also runs on a resize: it fills in what a container lacks, and refuses the whole pod for any container
 * outside the range.
 */
export function limitRangeHold(
  containers: readonly NamedSize[],
  items: readonly LimitRangeItem[],
): ResizeHold | null {
  for (const item of items) {
    if (item.type === 'Pod') {
      const hold = outOfRange(totalOf(containers), item, null);
      if (hold !== null) return hold;
      continue;
    }
    for (const { name, size } of containers) {
      const hold = filledIn(name, size, item) ?? outOfRange(size, item, name);
      if (hold !== null) return hold;
    }
  }
  return null;
}

function filledIn(container: string, size: Size, item: LimitRangeItem): ResizeHold | null {
  for (const field of sizeFields) {
    const defaults = field === 'limits' ? item.default : { ...item.default, ...item.defaultRequest };
    for (const resource of Object.keys(defaults)) {
      if (size[field][resource] === undefined)
        return { reason: 'LimitRangeDefaults', container, resource, field };
    }
  }
  return null;
}

function outOfRange(
  { requests, limits }: Size,
  { type, min, max, maxLimitRequestRatio }: LimitRangeItem,
  container: string | null,
): ResizeHold | null {
  const hold = (bound: 'min' | 'max' | 'ratio', resource: string, allowed: number): ResizeHold => ({
    reason: 'LimitRange',
    of: type,
    container,
    resource,
    bound,
    allowed,
  });
  for (const [resource, least] of Object.entries(min)) {
    // What is not set has no limit, so only a request can be too small then.
    if ((requests[resource] ?? 0) < least || (limits[resource] ?? least) < least)
      return hold('min', resource, least);
  }
  for (const [resource, most] of Object.entries(max)) {
    if ((limits[resource] ?? Number.POSITIVE_INFINITY) > most || (requests[resource] ?? 0) > most)
      return hold('max', resource, most);
  }
  for (const [resource, ratio] of Object.entries(maxLimitRequestRatio)) {
    const request = requests[resource] ?? 0;
    if (request === 0 || (limits[resource] ?? Number.POSITIVE_INFINITY) / request > ratio)
      return hold('ratio', resource, ratio);
  }
  return null;
}

/** `cpu` counts requests, as `requests.cpu` does. */
const quotaNames = {
  requests: (resource: string) => [`requests.${resource}`, resource],
  limits: (resource: string) => [`limits.${resource}`],
} as const;

/** A quota is asked about what grows only: the API server lets through what shrinks, however little is left. */
export function quotaHold(
  before: readonly NamedSize[],
  after: readonly NamedSize[],
  quotas: readonly QuotaView[],
): ResizeHold | null {
  const [was, becomes] = [totalOf(before), totalOf(after)];
  for (const { name, free } of quotas) {
    for (const field of sizeFields) {
      for (const [resource, amount] of Object.entries(becomes[field])) {
        const needed = amount - (was[field][resource] ?? 0);
        for (const counted of quotaNames[field](resource)) {
          const left = free[counted];
          if (needed > 0 && left !== undefined && needed > left)
            return { reason: 'QuotaExceeded', quota: name, resource: counted, free: left, needed };
        }
      }
    }
  }
  return null;
}

function totalOf(containers: readonly NamedSize[]): Size {
  let requests: Resources = {};
  let limits: Resources = {};
  for (const { size } of containers) {
    requests = addResources(requests, size.requests);
    limits = addResources(limits, size.limits);
  }
  return { requests, limits };
}
