import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../testing/arbitraries.ts';
import { pdb, pod } from '../testing/rebalance.ts';
import { askPdbs, desiredHealthy, disruptionsAllowed } from './pdb.ts';

const unready = pod('p', { ready: false });

describe('the healthy pods that a PDB wants', () => {
  it.each([
    // minAvailable, maxUnavailable, of how many pods, wanted
    [2, null, 3, 2],
    ['50%', null, 7, 4],
    ['100%', null, 7, 7],
    ['0%', null, 7, 0],
    ['7%', null, 100, 7],
    [null, 1, 3, 2],
    [null, 0, 3, 3],
    [null, '25%', 10, 7],
    [null, '1%', 10, 9],
    [null, '100%', 10, 0],
    [null, 12, 10, 0],
    [null, null, 10, 0],
    ['half', null, 10, 10],
    [null, 'half', 10, 10],
  ])(
    'with minAvailable %s and maxUnavailable %s of %i pods are %i',
    (minAvailable, maxUnavailable, expectedPods, wanted) => {
      expect(desiredHealthy(pdb({ minAvailable, maxUnavailable, expectedPods }))).toBe(wanted);
    },
  );
});

describe('the disruptions that are allowed', () => {
  it('are no more than the status says, nor than the spec gives on the same counts', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.nat(20), fc.nat(20), (allowed, healthy, most) => {
        const one = pdb({
          disruptionsAllowed: allowed,
          currentHealthy: healthy,
          maxUnavailable: most,
          expectedPods: 20,
        });
        const left = healthy - (20 - most);
        expect(disruptionsAllowed(one)).toBe(Math.max(0, Math.min(allowed, left)));
      }),
      propertyRuns,
    );
  });
});

describe('an eviction', () => {
  it('is free without a PDB that selects the pod', () => {
    const others = [pdb({ selector: { matchLabels: { app: 'db' } } }), pdb({ selector: null })];
    expect(askPdbs(pod('p'), others)).toEqual({ kind: 'allows', pdb: null });
  });

  it('is guarded by an empty selector, which selects every pod of the namespace', () => {
    expect(askPdbs(pod('p'), [pdb({ selector: {}, disruptionsAllowed: 0 })]).kind).toBe('blocks');
  });

  it('is refused under two PDBs, however generous they are', () => {
    expect(askPdbs(pod('p'), [pdb(), pdb({ name: 'b' })])).toEqual({ kind: 'tooMany', pdbs: ['web', 'b'] });
  });

  it('of a Pending pod is never refused', () => {
    const pending = pod('p', { phase: 'Pending', ready: false });
    expect(askPdbs(pending, [pdb({ disruptionsAllowed: 0 }), pdb()]).kind).toBe('allows');
  });

  it('waits for a status that is behind', () => {
    expect(askPdbs(pod('p'), [pdb({ generation: 2 })])).toEqual({ kind: 'behind', pdb: 'web' });
  });

  it('of an unhealthy pod is free with AlwaysAllow', () => {
    const broken = { disruptionsAllowed: 0, currentHealthy: 0 };
    expect(askPdbs(unready, [pdb({ ...broken, unhealthyPodEvictionPolicy: 'AlwaysAllow' })]).kind).toBe(
      'allows',
    );
    expect(askPdbs(unready, [pdb(broken)]).kind).toBe('blocks');
    expect(askPdbs(pod('p'), [pdb({ ...broken, unhealthyPodEvictionPolicy: 'AlwaysAllow' })]).kind).toBe(
      'blocks',
    );
  });

  it('of an unhealthy pod costs nothing while enough others are healthy', () => {
    expect(askPdbs(unready, [pdb({ disruptionsAllowed: 0, currentHealthy: 9 })]).kind).toBe('allows');
    expect(askPdbs(unready, [pdb({ disruptionsAllowed: 0, currentHealthy: 8 })]).kind).toBe('blocks');
    // Nothing wanted is nothing to be guarded by: the budget decides.
    expect(
      askPdbs(unready, [pdb({ maxUnavailable: '100%', disruptionsAllowed: 0, currentHealthy: 9 })]).kind,
    ).toBe('blocks');
  });

  it('that can never be allowed is told from one that cannot now', () => {
    const spent = { disruptionsAllowed: 0 };
    expect(askPdbs(pod('p'), [pdb(spent)])).toMatchObject({ kind: 'blocks', never: false, needed: 9 });
    expect(askPdbs(pod('p'), [pdb({ ...spent, maxUnavailable: 0 })])).toMatchObject({
      never: true,
      needed: 10,
    });
  });
});
