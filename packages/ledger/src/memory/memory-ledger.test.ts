import { describe, expect, it } from '@jest/globals';
import { describeLedger } from '../testing/contract.ts';
import { memorySubject } from '../testing/subject.ts';
import { MemoryLedger } from './memory-ledger.ts';

describe('the embedded ledger', () => {
  const subject = memorySubject();
  describeLedger(() => subject);

  it('forgets a ReplicaSet that nobody has asked about for long', async () => {
    const clock = { nowMs: 1_000 };
    const ledger = new MemoryLedger({ now: () => clock.nowMs, timing: { idleMs: 60_000 } });
    const info = { owner: { uid: 'w', name: 'web' }, replicas: 1, resourceVersion: '1' };
    await ledger.rememberReplicaSet('old', info);
    clock.nowMs += 60_001;
    await ledger.rememberReplicaSet('new', info);
    expect(await ledger.replicaSet('old')).toBeUndefined();
    expect(await ledger.replicaSet('new')).toEqual(info);
  });
});
