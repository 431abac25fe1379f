import { type Placement, preparePlacement } from '@spotalis/core';
import { MemoryLedger } from '@spotalis/ledger';
import { Admission, type AdmissionOptions } from '../admission/admission.ts';
import { Reserver } from '../steps/distribution/reserver.ts';
import type { Resolution } from '../workload/workloads.ts';

/** What every pod that gets through the gate is of. */
export const managedWeb: Resolution = {
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

/** The whole walk of an admission, with one managed Deployment and a ledger of its own. */
export function managedAdmission(change: Partial<Pick<AdmissionOptions, 'workloads' | 'readOnly'>> = {}) {
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
  const admission = new Admission({
    workloads: { resolve: async () => managedWeb },
    reserver,
    ledger,
    placement,
    hasCapacity: () => true,
    readOnly: () => false,
    ...change,
  });
  return { admission, ledger };
}
