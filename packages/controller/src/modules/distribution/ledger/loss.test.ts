import { describe, expect, it } from '@jest/globals';
import { LedgerUnavailable, type Revision } from '@spotalis/ledger';
import { LossWatch } from './loss.ts';

/** Each ReplicaSet was told of three pods; `held` is what its ledger holds. */
function watch(held: Record<string, number>) {
  const state = { epoch: 0, isDown: false, fault: undefined as Error | undefined };
  const failed: Error[] = [];
  const revisions = new Map<string, Revision>(
    Object.keys(held).map((uid) => [uid, { workloadUid: 'w', replicaSetUid: uid }]),
  );
  const loss = new LossWatch({
    ledger: {
      health: () => ({ mode: 'ready', epoch: state.epoch }),
      counts({ replicaSetUid }) {
        const fault = state.isDown ? new LedgerUnavailable('LEDGER_TIMEOUT', 'late') : state.fault;
        return fault === undefined
          ? Promise.resolve({ spot: held[replicaSetUid] ?? 0, onDemand: 0, untyped: 0, pending: 0 })
          : Promise.reject(fault);
      },
    },
    revisions: () => revisions,
    toldOf: () => 3,
    random: () => 0,
    failed: (error) => failed.push(error),
  });
  return { state, failed, look: async () => [...(await loss.look())] };
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

  it('tells of an answer that makes no sense, and looks again', async () => {
    const { look, state, failed } = watch({ a: 0 });
    state.fault = new TypeError('no list');
    expect(await look()).toEqual([]);
    expect(failed).toEqual([state.fault]);
    state.fault = undefined;
    await look();
    expect(await look()).toEqual(['a']);
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
