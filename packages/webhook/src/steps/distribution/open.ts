import type { CapacityType, Placement } from '@spotalis/core';
import type { ApiClient } from '@spotalis/kube';
import type { Lane, Ledger } from '@spotalis/ledger';
import { ApiReads } from './reads.ts';
import { Reserver, type ReserverObserver } from './reserver.ts';
import { DistributionStep } from './step.ts';

/** Replicas to share ranks with while the ledger cannot be reached, where their number is not configured. */
const PROBABLE_REPLICAS = 4;

export interface DistributionParts {
  readonly client: ApiClient;
  readonly ledger: Ledger;
  readonly placement: Placement;
  readonly hasCapacity: () => boolean;
  readonly typeOfNode: (name: string) => Promise<CapacityType | undefined>;
  /** Webhooks that share the ledger, where it is configured. */
  readonly replicas: number | undefined;
  readonly observer: ReserverObserver;
  readonly deadlineMs: number;
  readonly now: () => number;
}

export interface OpenDistribution {
  readonly step: DistributionStep;
  readonly reserver: Reserver;
}

/** The step of distribution, with what it reads. */
export function openDistribution(parts: DistributionParts): OpenDistribution {
  const { client, ledger, placement, hasCapacity, typeOfNode, replicas, observer, deadlineMs, now } = parts;
  const reserver = new Reserver({
    ledger,
    reads: new ApiReads({ client, ledger, typeOfNode, deadlineMs }),
    now,
    lane: laneOf(replicas),
    random: Math.random,
    observer,
  });
  return { step: new DistributionStep({ reserver, ledger, placement, hasCapacity }), reserver };
}

/** The replicas have no numbers, so each takes one at random: two of the same only cost some patches later. */
function laneOf(replicas = PROBABLE_REPLICAS): Lane {
  return { index: Math.floor(Math.random() * replicas), of: replicas };
}
