import type { Steered } from '../admission/outcome.ts';

export const aSteered = (change: Partial<Steered> = {}): Steered => ({
  result: 'steered',
  reason: 'ledger',
  type: 'spot',
  substitute: false,
  workload: { kind: 'Deployment', namespace: 'shop', name: 'web', uid: 'd' },
  revision: '1',
  numbers: { spotPercentage: 70, minOnDemand: 1 },
  counts: undefined,
  token: 'u',
  patch: [],
  warnings: [],
  dryRun: false,
  readOnly: false,
  giveBack: async () => undefined,
  ...change,
});
