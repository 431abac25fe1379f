import { describe, expect, it } from '@jest/globals';
import { closing, reasonOf } from '../../testing/drifting.ts';
import { inOrder, narrowing, sparing } from '../../testing/narrowing.ts';
import { NOON } from '../../testing/rebalance.ts';
import { decide } from './decide.ts';
import { rebalanceReasons } from './reason.ts';

const without = (...left: readonly string[]) => narrowing.filter(([reason]) => !left.includes(reason));

describe.each([
  ['a Deployment', sparing, without('OthersNotReady')],
  // It has no ledger, and each pod that would put its floor at risk is one that is not Ready.
  ['an OrderedReady StatefulSet', inOrder, without('LedgerDiffers', 'FloorAtRisk')],
])('a drift of %s', (_, drifting, gates) => {
  it('is repaired while none of these is closed', () => {
    expect(reasonOf(drifting)).toBe('OnDemandSurplus');
  });

  it.each(gates)('is held by %s', (reason, close) => {
    const trace = decide(close(drifting), NOON);
    expect(trace.reason).toBe(reason);
    expect(['nothing', 'wait']).toContain(trace.verdict.kind);
  });

  it.each(gates.map(([reason], index) => [reason, index] as const))(
    'is held by %s before all that come after it',
    (reason, index) => {
      const closed = gates.slice(index).reduceRight((one, [, close]) => close(one), drifting);
      expect(reasonOf(closed)).toBe(reason);
    },
  );
});

describe('the reasons', () => {
  it('are listed in the order in which they are looked for', () => {
    const tried: readonly string[] = [...closing, ...narrowing.slice(1)].map(([reason]) => reason);
    expect(tried).toEqual(rebalanceReasons.filter((reason) => tried.includes(reason)));
  });
});
