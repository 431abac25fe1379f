export { type LedgerErrorCode, LedgerUnavailable } from './errors.ts';
export {
  type Breaker,
  type BreakerWrite,
  type DecideRequest,
  type Decision,
  type Knowledge,
  latestMark,
  type Ledger,
  type LedgerCounts,
  type LedgerEntry,
  type LedgerHealth,
  type LedgerMode,
  type LedgerObserver,
  type LedgerOperation,
  type LedgerPod,
  type ListMark,
  type ListReason,
  type OwnDecision,
  type PodList,
  type ReplicaCount,
  type ReplicaSetBirth,
  type ReplicaSetInfo,
  type Revision,
  type SeenOutcome,
  type Steering,
  type SteerRequest,
  type StoredBreaker,
  type VolumeReach,
} from './ledger.ts';
export { ledgerMetrics, ledgerMetricSpecs } from './metrics.ts';
export { openLedger, type OpenLedgerOptions } from './open.ts';
export { MemoryLedger, type MemoryLedgerOptions } from './memory/memory-ledger.ts';
export { isEmbedded, redisSettings } from './redis/settings.ts';
export { compareResourceVersions } from './resource-version.ts';
export { poolNewsMs, poolOpenMs } from './timing.ts';
export { YoungDecisions } from './young.ts';
export {
  type AloneDecision,
  type AloneState,
  type AloneView,
  decideAlone,
  type Lane,
  startAlone,
} from './outage.ts';
