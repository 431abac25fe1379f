import { type Placement, preparePlacement } from '@spotalis/core';
import { MemoryLedger } from '@spotalis/ledger';
import { Chain } from '../admission/chain.ts';
import { AdmissionHandler, type AdmissionHandlerOptions } from '../admission/handler.ts';
import type { Step } from '../admission/step.ts';
import type { DistributionRecord } from '../steps/distribution/record.ts';
import { Reserver } from '../steps/distribution/reserver.ts';
import { DistributionStep } from '../steps/distribution/step.ts';
import type { ManagedWorkload } from '../workload/workloads.ts';

/** What every pod that gets through the gate is of. */
export const managedWeb: ManagedWorkload = {
  kind: 'managed',
  workload: { kind: 'Deployment', namespace: 'shop', name: 'web', uid: 'd' },
  policy: {
    kind: 'valid',
    numbers: { spotPercentage: 70, minOnDemand: 1 },
    defaulted: [],
    window: null,
    fallbackAfterMs: 'never',
    paused: false,
    problems: [],
  },
  firstOrdinal: 0,
};

const label = (value: string) => [{ op: 'equals', key: 'karpenter.sh/capacity-type', value }] as const;

const placement: Placement = preparePlacement(
  { spot: label('spot'), onDemand: label('on-demand') },
  {
    tolerations: [{ key: 'spot', operator: 'Exists' }],
    affinity: { spot: [], 'on-demand': [] },
    spreadSpotOverZones: true,
  },
);

/** The whole walk of an admission, with one managed Deployment, a ledger of its own, and maybe steps after ours. */
export function managedAdmission<Other = never>(
  change: Partial<Pick<AdmissionHandlerOptions<DistributionRecord>, 'workloads' | 'readOnly'>> = {},
  steps: readonly Step<Other>[] = [],
) {
  const ledger = new MemoryLedger({ now: Date.now });
  const reserver = new Reserver({
    ledger,
    reads: {
      replicaSet: async () => ({
        replicas: { replicas: 5, resourceVersion: '1' },
        birth: { createdAtMs: 0, untouched: false },
      }),
      pods: async () => ({ resourceVersion: '1', pods: [] }),
    },
    now: () => performance.now(),
    lane: { index: 0, of: 1 },
    random: Math.random,
    observer: { list: () => undefined, replicaSetRead: () => undefined },
  });
  const distribution = new DistributionStep({ reserver, ledger, placement, hasCapacity: () => true });
  const handler = new AdmissionHandler<DistributionRecord | Other>({
    workloads: { resolve: async () => managedWeb },
    chain: new Chain<DistributionRecord | Other>([distribution, ...steps]),
    readOnly: () => false,
    ...change,
  });
  return { handler, ledger };
}
