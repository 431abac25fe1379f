/** How long the ledger believes what it was told. One set of numbers for both implementations. */
export interface LedgerTiming {
  /** A decision whose pod was not seen by then is looked for in a LIST. Uncritical: 5 s and 120 s do as well. */
  readonly pendingDeadlineMs: number;
  /** For how long a pod that ended stays ended, whatever late events say. */
  readonly goneMs: number;
  /** A ledger that nobody touched for so long is forgotten, and rebuilt from a LIST when it is asked again. */
  readonly idleMs: number;
  /** A process tells a ledger that lost its memory of its own decisions of this age. 0: never. */
  readonly announceMs: number;
  /** For how long it keeps what it decided alone, to tell the ledger of it. Then a LIST has to show the pods. */
  readonly untoldMs: number;
}

export const defaultTiming: LedgerTiming = {
  pendingDeadlineMs: 30_000,
  goneMs: 300_000,
  idleMs: 86_400_000,
  announceMs: 8_000,
  untoldMs: 8_000,
};

/**
 * When a ReplicaSet may start with an empty ledger, without a LIST. It must be younger than the ledger's store by
 * more than clocks of API server and store can differ (and a creationTimestamp has whole seconds only), and so young
 * that no ledger of it can have been forgotten.
 */
export const newborn = { clockMarginMs: 2_000, maxAgeMs: 60_000 } as const;

/** So often a process looks whether a pool's breaker changed, and whether the store was emptied while connected. */
export const storeWatchMs = 1_000;
/** By then every process has heard of it, though some looks failed or were late. */
export const poolNewsMs = 5 * storeWatchMs;
/** Without a leader to renew it a pool's breaker closes by itself after this, also where nobody can look. */
export const poolOpenMs = 90_000;
