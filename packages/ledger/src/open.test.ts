import { describe, expect, it } from '@jest/globals';
import { openLedger } from './open.ts';

describe('an embedded ledger', () => {
  it('goes by the clock that dates ReplicaSets: one that was just made needs no LIST', async () => {
    const clock = { wallMs: Date.UTC(2026, 0, 1) };
    const ledger = openLedger({
      redis: { url: 'memory://' },
      now: () => performance.now(),
      wallMs: () => clock.wallMs,
    });
    clock.wallMs += 10_000;
    const decision = await ledger.decide({
      revision: { workloadUid: 'w', replicaSetUid: 'rs' },
      token: 't',
      policy: { spotPercentage: 100, minOnDemand: 0 },
      allowed: 'both',
      knowledge: { kind: 'fresh', replicas: { replicas: 1, resourceVersion: '1' } },
      birth: { createdAtMs: clock.wallMs - 1_000, untouched: true },
    });
    expect(decision).toMatchObject({ kind: 'decided', type: 'spot' });
  });
});
