import type { CapacityType, PolicyNumbers, PodCounts } from '@spotalis/core';
import {
  type AloneState,
  type DecideRequest,
  decideAlone,
  type Decision,
  type Lane,
  latestMark,
  type Ledger,
  type LedgerPod,
  LedgerUnavailable,
  type ListMark,
  type ReplicaCount,
  type ReplicaSetBirth,
  startAlone,
} from '@spotalis/ledger';
import { atMost, type Deadline, DecisionTimeoutError } from '../../admission/deadline.ts';
import type { ReplicaSetReading } from '../../cluster/replicaset.ts';
import { Estimates } from './estimates.ts';
import { FreshCalls, SharedCalls } from '../../cluster/calls.ts';
import { type RevisionReads, type RevisionRef, RevisionGoneError } from './revision.ts';

export interface ReservationRequest {
  readonly revision: RevisionRef;
  /** The `request.uid` of this admission. */
  readonly token: string;
  /** The reservation that the pod carries already, ours or forged. */
  readonly carried?: string;
  readonly policy: PolicyNumbers;
  readonly allowed: CapacityType | 'both';
  /** The placement whose lack of capacity applies. */
  readonly pool?: string;
  /** Known when the lookup of the owner has read the ReplicaSet. */
  readonly replicas?: ReplicaCount;
  readonly birth?: ReplicaSetBirth;
  readonly dryRun: boolean;
}

/** Who decided, and why not the ledger when it did not. */
export type ReservationSource = 'ledger' | 'replay' | 'ledger-unavailable' | 'late' | 'api-unavailable';

export interface Reservation {
  /** To be written on the pod; not the request's own in a reinvocation. */
  readonly token: string;
  readonly type: CapacityType;
  readonly rank: number;
  readonly substitute: boolean;
  readonly source: ReservationSource;
  /** With this pod in it; undefined when nothing was known. */
  readonly counts: PodCounts | undefined;
}

/** What the reserver reports of its reads of the API server. */
export interface ReserverObserver {
  list(reason: string): void;
  replicaSetRead(): void;
}

export interface ReserverOptions {
  readonly ledger: Pick<Ledger, 'decide' | 'announce' | 'cancel' | 'merge' | 'isPoolOpen'>;
  readonly reads: RevisionReads;
  readonly now: () => number;
  /** Which of our replicas this is, as far as it is known. */
  readonly lane: Lane;
  readonly random: () => number;
  readonly observer: ReserverObserver;
}

/** Reading the ReplicaSet, reading its pods, and once more when the ledger is lost in between: more is a fault. */
const MAX_STEPS = 6;

/**
 * Counts of this age are good enough to decide alone: two missed deadlines long. Each replica takes its share of the rest
 * of a burst, so old counts cost little: of 450 pods over ten replicas 1.1 off on average instead of 1.0.
 */
const FRESH_MS = 500;

/**
 * The wait for a LIST of the pods where older counts are known. In a burst the API server is busy with the very pods that
 * are to be counted, and a late answer is no answer. Later questions use the result of the LIST.
 */
const LOOK_MS = 500;

/** Revisions decided alone in one outage; a forgotten one begins its sequence again. */
const ALONE = 5_000;

interface ListNeed {
  readonly ref: RevisionRef;
  /** Absent when the ledger is not asked to merge it. */
  readonly mark?: ListMark;
}

interface RevisionState {
  readonly replicas: ReplicaCount;
  /** Why the ledger did not merge the LIST. */
  readonly mergeError: unknown;
}

/** Takes a place for each admission: from the ledger, or when it is late or away, from what this process knows. */
export class Reserver {
  readonly #ledger: ReserverOptions['ledger'];
  readonly #reads: RevisionReads;
  readonly #observer: ReserverObserver;
  readonly #estimates: Estimates;
  readonly #alone = new Map<string, AloneState>();
  readonly #begin: () => AloneState;
  readonly #replicaSets: FreshCalls<RevisionRef, ReplicaSetReading>;
  readonly #lists: FreshCalls<ListNeed, RevisionState>;
  /** For deciding alone: the own decisions that a LIST misses are known, so one under way will do. */
  readonly #looks = new SharedCalls<RevisionState>();

  constructor(options: ReserverOptions) {
    this.#ledger = options.ledger;
    this.#reads = options.reads;
    this.#observer = options.observer;
    this.#estimates = new Estimates(options.now);
    this.#begin = () => startAlone(options.lane, options.random());
    this.#replicaSets = new FreshCalls((_, [ref]) => this.#readReplicaSet(ref));
    this.#lists = new FreshCalls((_, needs) => this.#readRevision(needs));
  }

  /** Rejects only when the caller went away. */
  async reserve(request: ReservationRequest, deadline: Deadline): Promise<Reservation> {
    const { revision, replicas } = request;
    if (replicas !== undefined) this.#estimates.replicasRead(revision.replicaSetUid, replicas.replicas);
    const attempt = this.#askPatiently(request, deadline);
    try {
      const reservation = await deadline.within(attempt);
      this.#remember(request, reservation);
      return reservation;
    } catch (error) {
      if (error instanceof DecisionTimeoutError) {
        if (deadline.abandoned) {
          this.#cancelWhenDone(request, attempt);
          throw error;
        }
        // If the ledger still decides under this token, the announced decision replaces that.
        attempt.catch(() => undefined);
        return this.#decideAlone(request, 'late');
      }
      return this.#decideAlone(
        request,
        error instanceof LedgerUnavailable ? 'ledger-unavailable' : 'api-unavailable',
      );
    }
  }

  /** The answer did not reach the API server, so no pod will hold this place. */
  async cancel(request: ReservationRequest, reservation: Reservation): Promise<void> {
    if (request.dryRun || reservation.source === 'replay') return;
    await this.#cancelToken(request, reservation.token);
  }

  /** For the debug page. */
  get revisions(): number {
    return this.#estimates.size;
  }

  /**
   * A LIST of the pods takes a while, after which a ledger that was only slow answers. One that is down fails at once.
   */
  async #askPatiently(request: ReservationRequest, deadline: Deadline): Promise<Reservation> {
    try {
      return await this.#askLedger(request, deadline);
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
      // The ledger may have carried out the question, unless an earlier call asked it.
      const retry = this.#estimates.own(request.revision.replicaSetUid, request.token) === undefined;
      const looked = await this.#lookAtPods(request, deadline);
      if (!looked || deadline.over) throw error;
      return await this.#askLedger(request, deadline, retry);
    }
  }

  async #askLedger(request: ReservationRequest, deadline: Deadline, retry = false): Promise<Reservation> {
    const { revision, token, carried, policy, allowed, pool, dryRun, replicas, birth } = request;
    const base = {
      revision: { workloadUid: revision.workloadUid, replicaSetUid: revision.replicaSetUid },
      token,
      ...(carried === undefined ? {} : { carried }),
      policy,
      allowed,
      ...(pool === undefined ? {} : { pool }),
      dryRun,
      retry,
    };
    let ask: DecideRequest = {
      ...base,
      knowledge: { kind: 'cached', ...(replicas === undefined ? {} : { replicas }) },
      ...(birth === undefined ? {} : { birth }),
    };
    for (let step = 0; step < MAX_STEPS && !deadline.over; step++) {
      const decision = await this.#ledger.decide(ask);
      switch (decision.kind) {
        case 'decided':
          return reservationOf(decision);
        case 'need-replicaset': {
          const reading = await this.#replicaSets.ask(revision.replicaSetUid, revision);
          ask = { ...base, knowledge: { kind: 'fresh', replicas: reading.replicas }, birth: reading.birth };
          break;
        }
        case 'need-list': {
          this.#observer.list(decision.reason);
          const state = await this.#lists.ask(revision.replicaSetUid, { ref: revision, mark: decision.mark });
          if (state.mergeError !== undefined) throw state.mergeError;
          ask = { ...base, knowledge: { kind: 'verified', replicas: state.replicas, mark: decision.mark } };
          break;
        }
      }
    }
    throw deadline.over
      ? new DecisionTimeoutError(0)
      : new LedgerUnavailable(
          'LEDGER_LOST',
          `no decision after ${MAX_STEPS} questions: the ledger keeps changing under them`,
        );
  }

  async #readReplicaSet(ref: RevisionRef | undefined): Promise<ReplicaSetReading> {
    if (ref === undefined) throw new TypeError('a call that nobody asked for');
    this.#observer.replicaSetRead();
    const reading = await this.#reads.replicaSet(ref);
    if (reading === undefined) throw new RevisionGoneError(ref);
    this.#estimates.replicasRead(ref.replicaSetUid, reading.replicas.replicas);
    return reading;
  }

  /** Both reads begin now, after the questions of all callers that wait for them. */
  async #readRevision(needs: readonly ListNeed[]): Promise<RevisionState> {
    const [first] = needs;
    if (first === undefined) throw new TypeError('a call that nobody asked for');
    const { ref } = first;
    const [{ replicas }, list] = await Promise.all([this.#readReplicaSet(ref), this.#reads.pods(ref)]);
    const tokens = list.pods.map(({ token }) => token);
    this.#estimates.listSaid(ref.replicaSetUid, countsOf(list.pods), tokens);
    const marks = needs.flatMap(({ mark }) => (mark === undefined ? [] : [mark]));
    if (marks.length === 0) return { replicas, mergeError: undefined };
    try {
      await this.#ledger.merge(ref, list, marks.reduce(latestMark));
      return { replicas, mergeError: undefined };
    } catch (mergeError) {
      return { replicas, mergeError };
    }
  }

  /** Best effort, within the deadline. False: counts of a moment ago are as good as a LIST. */
  async #lookAtPods({ revision }: ReservationRequest, deadline: Deadline): Promise<boolean> {
    const ageMs = this.#estimates.ageMs(revision.replicaSetUid);
    if (ageMs < FRESH_MS) return false;
    this.#observer.list('ledger-unavailable');
    try {
      const look = this.#looks.ask(revision.replicaSetUid, () => this.#readRevision([{ ref: revision }]));
      await deadline.within(Number.isFinite(ageMs) ? atMost(LOOK_MS, look) : look);
    } catch {
      // Older counts have to do.
    }
    return true;
  }

  #remember({ revision, dryRun }: ReservationRequest, reservation: Reservation): void {
    const { token, type, rank, substitute, counts } = reservation;
    if (dryRun || counts === undefined) return;
    this.#alone.delete(revision.replicaSetUid);
    this.#estimates.ledgerSaid(revision.replicaSetUid, counts, { token, type, rank, substitute });
  }

  #cancelWhenDone(request: ReservationRequest, attempt: Promise<Reservation>): void {
    attempt.then(
      (reservation) => this.cancel(request, reservation),
      (error: unknown) => {
        // The ledger may have carried out the question though no answer came.
        if (error instanceof LedgerUnavailable && !request.dryRun)
          void this.#cancelToken(request, request.token);
      },
    );
  }

  async #cancelToken({ revision }: ReservationRequest, token: string): Promise<void> {
    try {
      await this.#ledger.cancel(revision, token);
    } catch {
      // A reservation that cannot be cancelled expires, which costs a LIST.
    }
  }

  #decideAlone(request: ReservationRequest, source: ReservationSource): Reservation {
    const { replicaSetUid } = request.revision;
    const { token, carried, policy, allowed, pool, dryRun } = request;
    const earlier =
      this.#estimates.own(replicaSetUid, token) ??
      (carried === undefined ? undefined : this.#estimates.own(replicaSetUid, carried));
    if (earlier !== undefined) {
      const { token: kept, type, rank, substitute } = earlier;
      return { token: kept, type, rank, substitute, source: 'replay', counts: undefined };
    }
    const estimate = this.#estimates.of(replicaSetUid);
    // With no counts, on-demand is safe.
    const decided = decideAlone(this.#alone.get(replicaSetUid) ?? this.#begin(), {
      policy,
      counts: estimate?.counts ?? nothingKnown,
      replicas: estimate?.replicas ?? 0,
      allowed: estimate === undefined && allowed === 'both' ? 'on-demand' : allowed,
      drought: pool !== undefined && this.#ledger.isPoolOpen(pool),
    });
    const { type, rank, substitute, state } = decided;
    if (!dryRun) {
      this.#keepAlone(replicaSetUid, state);
      const { workloadUid } = request.revision;
      const decision = { token, type, rank, substitute };
      this.#estimates.decidedAlone(replicaSetUid, decision);
      this.#ledger.announce({ workloadUid, replicaSetUid }, decision).catch(() => undefined);
    }
    return {
      token,
      type,
      rank,
      substitute,
      source,
      counts: estimate && withOne(estimate.counts, type),
    };
  }

  #keepAlone(revision: string, state: AloneState): void {
    this.#alone.set(revision, state);
    if (this.#alone.size > ALONE) {
      const [oldest = revision] = this.#alone.keys();
      this.#alone.delete(oldest);
    }
  }
}

function countsOf(pods: readonly LedgerPod[]): PodCounts {
  const spot = pods.filter(({ type }) => type === 'spot').length;
  const untyped = pods.filter(({ type }) => type === null).length;
  return { spot, onDemand: pods.length - spot - untyped, untyped };
}

const nothingKnown: PodCounts = { spot: 0, onDemand: 0 };

function reservationOf(decision: Extract<Decision, { kind: 'decided' }>): Reservation {
  const { token, type, rank, substitute, counts, replay } = decision;
  return { token, type, rank, substitute, source: replay ? 'replay' : 'ledger', counts };
}

function withOne(counts: PodCounts, type: CapacityType): PodCounts {
  return type === 'spot'
    ? { ...counts, spot: counts.spot + 1 }
    : { ...counts, onDemand: counts.onDemand + 1 };
}
