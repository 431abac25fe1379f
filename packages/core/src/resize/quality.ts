import { addResources, type Resources } from '../cluster/resources.ts';
import type { Size } from '../cluster/size.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const counted = ['cpu', 'memory'] as const;

/** The class that the API server gives a pod of these containers, init containers included. */
export function qosClassOf(sizes: readonly Size[]): QosClass {
  let requests: Resources = {};
  let limits: Resources = {};
  for (const size of sizes) {
    requests = addResources(requests, size.requests);
    limits = addResources(limits, size.limits);
  }
  if (counted.every((resource) => !requests[resource] && !limits[resource])) return 'BestEffort';
  const isLimited = sizes.every((size) => counted.every((resource) => (size.limits[resource] ?? 0) > 0));
  const isEqual = counted.every((resource) => requests[resource] === limits[resource]);
  return isLimited && isEqual ? 'Guaranteed' : 'Burstable';
}
