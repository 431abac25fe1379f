import { describe, expect, it } from '@jest/globals';
import { LedgerUnavailable, type Revision } from '@spotalis/ledger';
import { LossWatch } from './loss.ts';

/** Each ReplicaSet was told of three pods; `held` is what its ledger holds. */
function watch(held: Record<string, number>) {
  const state = { epoch: 0, isDown: false };
  const revisions = new Map<string, Revision>(
    Object.keys(held).map((uid) => [uid, { workloadUid: 'w', replicaSetUid: uid }]),
  );
  const loss = new LossWatch({
    ledger: {
      health: () => ({ mode: 'ready', epoch: state.epoch }),
      counts: ({ replicaSetUid }) =>
        state.isDown
          ? Promise.reject(new LedgerUnavailable('LEDGER_TIMEOUT', 'late'))
          : Promise.resolve({ spot: held[replicaSetUid] ?? 0, onDemand: 0, pending: 0 }),
    },
    revisions: () => revisions,
    toldOf: () => 3,
    random: () => 0,
  });
  return { state, look: async () => [...(await loss.look())] };
}

describe('the watch for losses', () => {
  it('finds nothing while ledgers hold what they were told, or more', async () => {
    const { look } = watch({ a: 3, b: 5 });
    for (let i = 0; i < 3; i++) expect(await look()).toEqual([]);
  });

  it('finds all after the connection was lost, once', async () => {
    const { look, state } = watch({ a: 3, b: 3 });
    state.epoch++;
    expect(await look()).toEqual(['a', 'b']);
    expect(await look()).toEqual([]);
  });

  it('finds after two looks which ledgers a flush has emptied, and not those filled again since', async () => {
    const { look } = watch({ a: 0, b: 3, c: 1 });
    expect(await look()).toEqual([]);
    expect(await look()).toEqual(['a', 'c']);
  });

  it('believes a ledger that has caught up by the second look', async () => {
    const held = { a: 2 };
    const { look } = watch(held);
    expect(await look()).toEqual([]);
    held.a = 3;
    expect(await look()).toEqual([]);
    held.a = 2;
    expect(await look()).toEqual([]);
  });

  it('says nothing while the ledger is out of reach', async () => {
    const { look, state } = watch({ a: 0 });
    state.isDown = true;
    for (let i = 0; i < 3; i++) expect(await look()).toEqual([]);
  });
});
