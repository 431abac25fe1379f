import type { CapacityType, PolicyNumbers } from '@spotalis/core';
import type {
  DecideRequest,
  Decision,
  Knowledge,
  Ledger,
  LedgerPod,
  ListMark,
  ListReason,
  Revision,
} from '../ledger.ts';
import { MemoryLedger } from '../memory/memory-ledger.ts';

/** A ledger under test and what a test can do to its store. */
export interface Subject {
  readonly ledger: Ledger;
  /** All that the store knows happened so much longer ago. Marks taken before are of no use afterwards. */
  age(ms: number): Promise<void>;
  /** The clock of the store was set back by so much. */
  setBack(ms: number): Promise<void>;
  /** Whether the store can tell that a ledger was never lost, so that a new one may start empty. */
  readonly tellsLosses: boolean;
  /** The time of the store. */
  nowMs(): Promise<number>;
}

export function memorySubject(): Subject {
  let clockMs = 1_700_000_000_000;
  const ledger = new MemoryLedger({ now: () => clockMs });
  // Well older than any ReplicaSet of a test.
  clockMs += 3_600_000;
  return {
    ledger,
    tellsLosses: true,
    age: async (ms) => {
      clockMs += ms;
    },
    // One process' time never goes back: it waits for the clock.
    setBack: async () => undefined,
    nowMs: async () => clockMs,
  };
}

export const seventy: PolicyNumbers = { spotPercentage: 70, minOnDemand: 1 };

let made = 0;

export function newRevision(): Revision {
  made++;
  return { workloadUid: `workload-${made}`, replicaSetUid: `replicaset-${made}` };
}

/** Any number of replicas above what a test creates. */
export const plenty = { replicas: 100_000, resourceVersion: '1' };

export function request(revision: Revision, token: string, more: Partial<DecideRequest> = {}): DecideRequest {
  return {
    revision,
    token,
    policy: seventy,
    allowed: 'both',
    knowledge: { kind: 'cached', replicas: plenty },
    ...more,
  };
}

export function verified(replicas: number, resourceVersion = '1'): Knowledge {
  return { kind: 'verified', replicas: { replicas, resourceVersion } };
}

export function pod(token: string, type: CapacityType, rank: number, resourceVersion = '10'): LedgerPod {
  return { token, type, rank, resourceVersion };
}

export function untyped(token: string, resourceVersion = '10'): LedgerPod {
  return { token, type: null, resourceVersion };
}

type Decided = Extract<Decision, { kind: 'decided' }>;

/** Decides where nothing more may have to be read. */
export async function place(ledger: Ledger, asked: DecideRequest): Promise<Decided> {
  const decision = await ledger.decide(asked);
  if (decision.kind !== 'decided') throw new Error(`not decided but ${JSON.stringify(decision)}`);
  return decision;
}

/** The mark of a decision that needs a list, and for this reason. */
export async function markOf(ledger: Ledger, asked: DecideRequest, reason: ListReason): Promise<ListMark> {
  const decision = await ledger.decide(asked);
  if (decision.kind !== 'need-list' || decision.reason !== reason) {
    throw new Error(`not ${reason} but ${JSON.stringify(decision)}`);
  }
  return decision.mark;
}

/** Starts a ledger from a list of these pods. */
export async function seed(
  ledger: Ledger,
  revision: Revision,
  pods: readonly LedgerPod[] = [],
  resourceVersion = '20',
): Promise<void> {
  await ledger.merge(revision, { resourceVersion, pods }, await ledger.markList(revision));
}
