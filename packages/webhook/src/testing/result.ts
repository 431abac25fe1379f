import type { AdmissionResult } from '../admission/handler.ts';
import type { DistributionRecord, Steered } from '../steps/distribution/record.ts';

const aSteered = (change: Partial<Steered> = {}): Steered => ({
  result: 'steered',
  reason: 'ledger',
  type: 'spot',
  substitute: false,
  workload: { kind: 'Deployment', namespace: 'shop', name: 'web', uid: 'd' },
  revision: '1',
  numbers: { spotPercentage: 70, minOnDemand: 1 },
  counts: undefined,
  token: 'u',
  ...change,
});

export const aResult = (
  change: Partial<AdmissionResult<DistributionRecord>> = {},
): AdmissionResult<DistributionRecord> => ({
  operations: [],
  warnings: [],
  records: [aSteered()],
  leftOut: [],
  dryRun: false,
  readOnly: false,
  undo: async () => undefined,
  ...change,
});
