import type {
  Breaker,
  BreakerWrite,
  DecideRequest,
  Decision,
  Ledger,
  LedgerCounts,
  LedgerEntry,
  LedgerHealth,
  LedgerPod,
  ListMark,
  OwnDecision,
  PodList,
  ReplicaSetInfo,
  Revision,
  SeenOutcome,
  Steering,
  SteerRequest,
  StoredBreaker,
  VolumeReach,
} from '../ledger.ts';
import { compareResourceVersions } from '../resource-version.ts';
import { defaultTiming, type LedgerTiming } from '../timing.ts';
import { BreakerBook } from './breaker-book.ts';
import { RevisionBook } from './revision-book.ts';

/** The one process there is. */
const alone = '1';

export interface MemoryLedgerOptions {
  /** The wall clock: ReplicaSets are dated by it. */
  readonly now: () => number;
  readonly timing?: Partial<LedgerTiming>;
}

/** The ledger of a webhook that runs alone and observes for itself. It is also the model the Redis one is held to. */
export class MemoryLedger implements Ledger {
  readonly #now: () => number;
  readonly #timing: LedgerTiming;
  readonly #sinceUs: number;
  readonly #books = new Map<string, { book: RevisionBook; usedAtUs: number }>();
  readonly #breakers = new Map<string, BreakerBook>();
  readonly #pools = new Map<string, number>();
  readonly #reach = new Map<string, ReadonlyMap<number, VolumeReach>>();
  readonly #replicaSets = new Map<string, ReplicaSetInfo>();
  #lastUs = 0;

  constructor({ now, timing }: MemoryLedgerOptions) {
    this.#now = now;
    this.#timing = { ...defaultTiming, ...timing };
    this.#sinceUs = this.#tick();
  }

  async decide(request: DecideRequest): Promise<Decision> {
    const nowUs = this.#tick();
    return this.#book(request.revision, nowUs).decide(request, {
      nowUs,
      by: alone,
      // Nothing is ever lost but with the whole process.
      dirty: false,
      breaker: this.#breaker(request.revision.workloadUid),
      poolOpen: this.#poolOpen(request.pool, nowUs),
      storeSinceUs: this.#sinceUs,
    });
  }

  async announce(revision: Revision, decision: OwnDecision): Promise<void> {
    const nowUs = this.#tick();
    this.#book(revision, nowUs).announce([decision], alone, nowUs);
  }

  async cancel(revision: Revision, token: string): Promise<void> {
    const nowUs = this.#tick();
    this.#book(revision, nowUs).cancel(token, nowUs);
  }

  async steer({
    workloadUid,
    ordinal,
    token,
    wanted,
    pool,
    dryRun = false,
  }: SteerRequest): Promise<Steering> {
    const nowUs = this.#tick();
    const reach = this.#reach.get(workloadUid)?.get(ordinal) ?? 'both';
    if (reach === 'unknown') return { kind: 'unsteered' };
    if (reach !== 'both') return { kind: 'steered', type: reach, substitute: false };
    const substitute =
      wanted === 'spot' &&
      !this.#breaker(workloadUid).letsSpotThrough(token, this.#poolOpen(pool, nowUs), nowUs, dryRun);
    return { kind: 'steered', type: substitute ? 'on-demand' : wanted, substitute };
  }

  async seen(revision: Revision, pod: LedgerPod): Promise<SeenOutcome> {
    const nowUs = this.#tick();
    return this.#book(revision, nowUs).seen(pod, nowUs);
  }

  async released(revision: Revision, token: string): Promise<void> {
    const nowUs = this.#tick();
    this.#book(revision, nowUs).released(token, nowUs);
  }

  async markList(revision: Revision): Promise<ListMark> {
    const nowUs = this.#tick();
    return this.#book(revision, nowUs).mark(nowUs);
  }

  async merge(revision: Revision, list: PodList, mark: ListMark): Promise<void> {
    const nowUs = this.#tick();
    if (this.#book(revision, nowUs).merge(list, mark, nowUs))
      this.#replicaSets.delete(revision.replicaSetUid);
  }

  async rememberReplicaSet(replicaSetUid: string, info: ReplicaSetInfo): Promise<void> {
    const known = this.#replicaSets.get(replicaSetUid);
    if (known === undefined || compareResourceVersions(info.resourceVersion, known.resourceVersion) > 0) {
      this.#replicaSets.set(replicaSetUid, info);
    }
    this.#book({ workloadUid: info.owner.uid, replicaSetUid }, this.#tick()).noteReplicas(info);
  }

  async replicaSet(replicaSetUid: string): Promise<ReplicaSetInfo | undefined> {
    return this.#replicaSets.get(replicaSetUid);
  }

  async breaker(workloadUid: string): Promise<StoredBreaker> {
    return this.#breaker(workloadUid).read();
  }

  async setBreaker(workloadUid: string, next: Breaker, expectedVersion: number): Promise<BreakerWrite> {
    const breaker = this.#breaker(workloadUid);
    this.#breakers.set(workloadUid, breaker);
    return breaker.write(next, expectedVersion);
  }

  async openPool(pool: string, openForMs: number): Promise<void> {
    this.#pools.set(pool, this.#tick() + openForMs * 1000);
  }

  isPoolOpen(pool: string): boolean {
    return this.#poolOpen(pool, this.#tick());
  }

  async closePool(pool: string): Promise<void> {
    this.#pools.delete(pool);
  }

  async setReach(workloadUid: string, reach: ReadonlyMap<number, VolumeReach>): Promise<void> {
    this.#reach.set(workloadUid, new Map(reach));
  }

  async counts(revision: Revision): Promise<LedgerCounts> {
    return this.#book(revision, this.#tick()).counts();
  }

  async lookup(revision: Revision, tokens: readonly string[]): Promise<readonly (LedgerEntry | undefined)[]> {
    const book = this.#book(revision, this.#tick());
    return tokens.map((token) => book.lookup(token));
  }

  async entries(revision: Revision): Promise<readonly LedgerEntry[]> {
    return this.#book(revision, this.#tick()).entries();
  }

  async remove(revision: Revision): Promise<void> {
    this.#books.delete(revision.replicaSetUid);
    this.#replicaSets.delete(revision.replicaSetUid);
  }

  health(): LedgerHealth {
    return { mode: 'embedded', epoch: 0 };
  }

  async close(): Promise<void> {}

  /** Microseconds with room between them, as two scripts never run at once: marks lie between releases. */
  #tick(): number {
    this.#lastUs = Math.max(this.#lastUs + 2, Math.round(this.#now() * 1000));
    return this.#lastUs;
  }

  #book({ replicaSetUid }: Revision, nowUs: number): RevisionBook {
    let kept = this.#books.get(replicaSetUid);
    if (kept === undefined) {
      for (const [uid, { usedAtUs }] of this.#books) {
        if (usedAtUs >= nowUs - this.#timing.idleMs * 1000) continue;
        this.#books.delete(uid);
        this.#replicaSets.delete(uid);
      }
      kept = { book: new RevisionBook(this.#timing), usedAtUs: nowUs };
      this.#books.set(replicaSetUid, kept);
    }
    kept.usedAtUs = nowUs;
    return kept.book;
  }

  /** One that was never written is closed, and nothing is taken from it that would have to be kept. */
  #breaker(workloadUid: string): BreakerBook {
    return this.#breakers.get(workloadUid) ?? new BreakerBook();
  }

  #poolOpen(pool: string | undefined, nowUs: number): boolean {
    return pool !== undefined && (this.#pools.get(pool) ?? 0) > nowUs;
  }
}
