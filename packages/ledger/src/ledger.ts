import type { CapacityType, PodCounts, PolicyNumbers } from '@spotalis/core';
import { laterResourceVersion } from './resource-version.ts';

/**
 * Who holds which place among the pods of a ReplicaSet. All webhook and controller replicas share one ledger, so that
 * any number of admissions at once get the same sequence of types that one admission after another would.
 *
 * Every call but `close` and `health` may throw `LedgerUnavailable`.
 */
export interface Ledger {
  /**
   * Takes a place for one admission, or says what the caller must read first. Who gets no answer in time decides alone,
   * and has to `announce` it.
   */
  decide(request: DecideRequest): Promise<Decision>;
  /**
   * What this process decided alone, under the token it had asked with or would have. It takes the place of what the
   * ledger may have decided for it since. Kept until the ledger can be told, so that nobody has to LIST for it.
   */
  announce(revision: Revision, decision: OwnDecision): Promise<void>;
  /** Gives back the place of a decision whose answer came too late to reach the API server. */
  cancel(revision: Revision, token: string): Promise<void>;
  /** The breaker and the volumes' reach applied to a StatefulSet's pod, whose type its ordinal decides. */
  steer(request: SteerRequest): Promise<Steering>;

  /** A pod was observed: not terminating, not Succeeded, not Failed. */
  seen(revision: Revision, pod: LedgerPod): Promise<SeenOutcome>;
  /** A pod was observed to end: deletionTimestamp, Succeeded, Failed, or gone. */
  released(revision: Revision, token: string): Promise<void>;

  /** Asked before a LIST that no `need-list` called for (resync, repair): the mark its merge must carry. */
  markList(revision: Revision): Promise<ListMark>;
  /** Makes the ledger agree with a quorum LIST (resourceVersion unset) of the ReplicaSet's pods. */
  merge(revision: Revision, list: PodList, mark: ListMark): Promise<void>;

  rememberReplicaSet(replicaSetUid: string, info: ReplicaSetInfo): Promise<void>;
  replicaSet(replicaSetUid: string): Promise<ReplicaSetInfo | undefined>;

  /** The workload's breaker; `closed` when none was ever written. */
  breaker(workloadUid: string): Promise<StoredBreaker>;
  /** Writes only if nothing else did since `expectedVersion` was read (a permit taken counts as a write). */
  setBreaker(workloadUid: string, next: Breaker, expectedVersion: number): Promise<BreakerWrite>;
  /** A breaker over all workloads of one placement. It closes by itself after `openForMs`. */
  openPool(pool: string, openForMs: number): Promise<void>;
  closePool(pool: string): Promise<void>;
  /** As this process last saw it, at most `poolNewsMs` ago while the ledger can be reached. */
  isPoolOpen(pool: string): boolean;
  /** Which capacity the bound volumes of a StatefulSet's ordinals can reach. Replaces what was known. */
  setReach(workloadUid: string, reach: ReadonlyMap<number, VolumeReach>): Promise<void>;

  counts(revision: Revision): Promise<LedgerCounts>;
  /** The entries of these tokens, in their order: for listed pods that do not say their type themselves. */
  lookup(revision: Revision, tokens: readonly string[]): Promise<readonly (LedgerEntry | undefined)[]>;
  /** Everything, in no order: for `explain` and debugging, never on the way of an admission. */
  entries(revision: Revision): Promise<readonly LedgerEntry[]>;
  /** The ReplicaSet is gone. */
  remove(revision: Revision): Promise<void>;

  health(): LedgerHealth;
  close(): Promise<void>;
}

/** A ReplicaSet of a workload. By UID: a hash or a name outlives a ReplicaSet that is deleted and made again. */
export interface Revision {
  readonly workloadUid: string;
  readonly replicaSetUid: string;
}

/** `spec.replicas` of a ReplicaSet and the resourceVersion it was read at. */
export interface ReplicaCount {
  readonly replicas: number;
  readonly resourceVersion: string;
}

/** What one read of a ReplicaSet tells every replica of ours. */
export interface ReplicaSetInfo extends ReplicaCount {
  readonly owner: { readonly uid: string; readonly name: string };
}

export interface DecideRequest {
  readonly revision: Revision;
  /** The `request.uid` of the AdmissionReview. */
  readonly token: string;
  /** The reservation already written on the pod, if any: ours in a reinvocation, else forged or copied. */
  readonly carried?: string;
  readonly policy: PolicyNumbers;
  /** What the pod's own constraints allow. */
  readonly allowed: CapacityType | 'both';
  readonly knowledge: Knowledge;
  /** The placement whose pool-wide breaker applies. */
  readonly pool?: string;
  /** Given when the ReplicaSet was read live: lets the ledger of a brand-new one start without a LIST. */
  readonly birth?: ReplicaSetBirth;
  readonly dryRun?: boolean;
  /** Asked before under this token, and no answer came: what was decided then is this call's own, and no replay. */
  readonly retry?: boolean;
}

/** How much the caller has read for this admission. Begin with `cached`, and go on as the answer says. */
export type Knowledge =
  /** Nothing yet; `replicas` as the process remembers it. */
  | { readonly kind: 'cached'; readonly replicas?: ReplicaCount }
  /** After `need-replicaset`: a quorum GET of the ReplicaSet. */
  | { readonly kind: 'fresh'; readonly replicas: ReplicaCount }
  /** After `need-list`: a quorum LIST begun after that answer, merged, and a quorum GET as recent. */
  | {
      readonly kind: 'verified';
      readonly replicas: ReplicaCount;
      /** That answer's. What it knew of the replicas gives way to what was read after it, also to an earlier version. */
      readonly mark?: ListMark;
    };

export interface ReplicaSetBirth {
  readonly createdAtMs: number;
  /** `status.observedGeneration` was 0 and `status.replicas` absent or 0: no pod was counted yet. */
  readonly untouched: boolean;
}

export type Decision =
  | {
      readonly kind: 'decided';
      readonly type: CapacityType;
      /** The place among the pods of its type: core's `deletionCost` makes the cost from it. */
      readonly rank: number;
      /** To be written on the pod. It differs from the request's token in a reinvocation. */
      readonly token: string;
      /** The same answer as before, or that of a call whose pod is long gone: nothing was taken now. */
      readonly replay: boolean;
      /** On-demand only because a breaker is open. */
      readonly substitute: boolean;
      /** With this pod in it. */
      readonly counts: PodCounts;
    }
  /** Read the ReplicaSet (quorum GET) and ask again with `fresh`. */
  | { readonly kind: 'need-replicaset' }
  /** LIST its pods and GET it (quorum, both begun after this answer), merge, ask again with `verified`. */
  | { readonly kind: 'need-list'; readonly reason: ListReason; readonly mark: ListMark };

/** What a process decided, or was told that was decided for it. */
export interface OwnDecision {
  readonly token: string;
  readonly type: CapacityType;
  readonly rank: number;
  readonly substitute: boolean;
}

export type ListReason = 'unseeded' | 'dirty' | 'expired-pending' | 'release-seen' | 'full';

/**
 * Up to where a LIST that begins now is the truth. Callers who wait for one LIST merge it with the latest of their
 * marks (`latestMark`); who comes with a later mark than the LIST's start may not join it.
 */
export interface ListMark {
  /** The ledger's own clock, in microseconds. */
  readonly atUs: number;
  /** The process's count of events after which its ledgers must be listed again. */
  readonly epoch: number;
  /**
   * The latest resourceVersions that the ledger knows, of pods and of the ReplicaSet; absent: none. What is read from
   * now on is at least as late, unless the API server's store went back to a backup.
   */
  readonly pods?: string;
  readonly replicaSet?: string;
}

export interface LedgerPod {
  /** The reservation on the pod; the pod's UID where there is none. */
  readonly token: string;
  /**
   * Null while neither the pod nor its node says it: the pod counts as a replica all the same. What the ledger knows
   * of its type stays.
   */
  readonly type: CapacityType | null;
  /** Absent on a pod that was never given one. */
  readonly rank?: number | undefined;
  readonly substitute?: boolean;
  readonly resourceVersion: string;
}

export interface PodList {
  /** `metadata.resourceVersion` of the list: one snapshot, all its pages. */
  readonly resourceVersion: string;
  /** Without terminating, Succeeded and Failed ones. */
  readonly pods: readonly LedgerPod[];
}

/** `outdated`: as much or more was known already. `gone`: the pod was seen to end before. */
export type SeenOutcome = 'recorded' | 'outdated' | 'gone';

export interface LedgerCounts extends PodCounts {
  readonly untyped: number;
  /** How many of them are decisions whose pod was not seen yet. */
  readonly pending: number;
}

export type LedgerEntry = {
  readonly token: string;
  readonly type: CapacityType | null;
  readonly rank?: number;
  readonly substitute: boolean;
} & ({ readonly state: 'pending' } | { readonly state: 'live'; readonly resourceVersion: string });

export type Breaker =
  | { readonly state: 'closed'; readonly memo?: string }
  | { readonly state: 'open'; readonly memo?: string }
  /** Each permit lets one spot decision through. */
  | { readonly state: 'half-open'; readonly permits: number; readonly memo?: string };

/** `memo` is the drought reducer's own; the ledger keeps it as it is. */
export type StoredBreaker = Breaker & {
  readonly version: number;
  /** When the last permit since it was in this state was taken, by the ledger's clock. */
  readonly permitTakenAtMs?: number;
};

export type BreakerWrite =
  | { readonly kind: 'written'; readonly version: number }
  | { readonly kind: 'conflict'; readonly current: StoredBreaker };

/** `unknown`: bound, but where to could not be told; such a pod is not steered. */
export type VolumeReach = CapacityType | 'both' | 'unknown';

export interface SteerRequest {
  readonly workloadUid: string;
  readonly ordinal: number;
  /** The `request.uid`, so that a replay does not take a second permit. */
  readonly token: string;
  /** The type of the ordinal's slot. */
  readonly wanted: CapacityType;
  readonly pool?: string;
  readonly dryRun?: boolean;
}

export type Steering =
  | { readonly kind: 'steered'; readonly type: CapacityType; readonly substitute: boolean }
  | { readonly kind: 'unsteered' };

export type LedgerMode = 'embedded' | 'connecting' | 'ready' | 'degraded';

export interface LedgerHealth {
  readonly mode: LedgerMode;
  /** The code of the last failure, while not ready. */
  readonly code?: string;
  readonly epoch: number;
}

/** What metrics listen to. */
export interface LedgerObserver {
  operation?(event: LedgerOperation): void;
  mode?(mode: LedgerMode, code?: string): void;
  /** How many pools this process takes to be without spot capacity, as last looked. */
  openPools?(count: number): void;
}

export interface LedgerOperation {
  readonly operation: string;
  readonly durationMs: number;
  /** `ok`, or the code of the error. */
  readonly outcome: string;
}

/** The mark that a merge for several waiting callers must carry. */
export function latestMark(a: ListMark, b: ListMark): ListMark {
  const pods = latestOf(a.pods, b.pods);
  const replicaSet = latestOf(a.replicaSet, b.replicaSet);
  return {
    atUs: Math.max(a.atUs, b.atUs),
    epoch: Math.max(a.epoch, b.epoch),
    ...(pods === undefined ? {} : { pods }),
    ...(replicaSet === undefined ? {} : { replicaSet }),
  };
}

const latestOf = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || b === undefined ? (a ?? b) : laterResourceVersion(a, b);
