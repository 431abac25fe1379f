import { randomInt } from 'node:crypto';
import { DirtyMarks } from '../dirty.ts';
import { LedgerUnavailable } from '../errors.ts';
import type {
  Breaker,
  BreakerWrite,
  DecideRequest,
  Decision,
  Ledger,
  LedgerCounts,
  LedgerEntry,
  LedgerHealth,
  LedgerMode,
  LedgerObserver,
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
import { RecentDecisions } from '../recent.ts';
import { defaultTiming, type LedgerTiming, newborn, storeWatchMs } from '../timing.ts';
import { UntoldDecisions } from '../untold.ts';
import { Connection } from './connection.ts';
import { Keys } from './keys.ts';
import { mergeInChunks } from './merge.ts';
import { defaultKeyPrefix, type RedisSettings } from './options.ts';
import * as reply from './reply.ts';
import { type Script, scripts } from './script.ts';
import { StoreWatch } from './store-watch.ts';

export interface RedisLedgerOptions {
  readonly redis: RedisSettings;
  /** Times operations and ages of this process' own decisions. Nothing that is kept in Redis is dated by it. */
  readonly now: () => number;
  readonly timing?: Partial<LedgerTiming>;
  readonly observer?: LedgerObserver;
}

const breakerFields = ['state', 'permits', 'version', 'takenat', 'memo'];

/** Builds keys and arguments of each script and reads its answer. The rules are in the scripts. */
export class RedisLedger implements Ledger {
  readonly #now: () => number;
  readonly #timing: LedgerTiming;
  readonly #observer: LedgerObserver;
  readonly #connection: Connection;
  readonly #keys: Keys;
  readonly #dirty = new DirtyMarks();
  readonly #recent: RecentDecisions;
  readonly #store: StoreWatch;
  readonly #untold: UntoldDecisions;
  #droppedAtMs = 0;
  /** One telling at a time for each ledger; who decides meanwhile waits for it. */
  readonly #telling = new Map<string, Promise<void>>();
  /** By which it knows again, in the ledger, what it had asked for itself. */
  readonly #process = randomInt(1, 2 ** 31);
  #connections = 0;
  #mode: LedgerMode = 'connecting';
  #code: string | undefined;

  constructor({ redis, now, timing, observer = {} }: RedisLedgerOptions) {
    this.#now = now;
    this.#timing = { ...defaultTiming, ...timing };
    this.#observer = observer;
    this.#keys = new Keys(redis.keyPrefix ?? defaultKeyPrefix);
    this.#recent = new RecentDecisions(this.#timing.announceMs, now);
    this.#untold = new UntoldDecisions(this.#timing.untoldMs, now);
    this.#connection = new Connection(redis, {
      ready: (again) => this.#onReady(again),
      failed: (failure) => this.#setMode(failure === undefined ? 'ready' : 'degraded', failure?.code),
    });
    let lookedAt = 0;
    this.#store = new StoreWatch(
      async () => {
        lookedAt = this.#dirty.epoch;
        return await this.#run(
          scripts.readStore,
          [this.#keys.epoch(), this.#keys.pools()],
          [this.#timing.idleMs],
        );
      },
      ({ nowUs, openPools }, epochIsNew) => {
        this.#observer.openPools?.(openPools.size);
        this.#dirty.allBefore(nowUs / 1000, lookedAt);
        this.#recent.dropOld();
        this.#dropUntold();
        if (epochIsNew) this.#announceAll();
      },
      now,
    );
  }

  async decide(request: DecideRequest): Promise<Decision> {
    const { revision, knowledge, birth } = request;
    const ledger = revision.replicaSetUid;
    if (this.#untold.of(revision).length > 0) await this.#tell(revision);
    const dirty = this.#dirty.isDirty(ledger, birth?.createdAtMs);
    // What is younger than the last loss lost nothing by it, and need not be asked for its age again.
    if (!dirty) this.#dirty.clean(ledger, this.#dirty.epoch);
    const { replicas } = knowledge;
    const keys = [
      ...this.#keys.places(revision),
      this.#keys.breaker(revision.workloadUid),
      this.#epochKey(revision),
    ];
    const args = [
      request.token,
      request.carried ?? '',
      request.policy.spotPercentage,
      request.policy.minOnDemand,
      request.allowed,
      knowledge.kind,
      replicas?.replicas ?? '',
      replicas?.resourceVersion ?? '',
      dirty ? 1 : 0,
      this.#poolOpen(request.pool),
      birth?.untouched === true ? birth.createdAtMs * 1000 : '',
      request.dryRun === true ? 1 : 0,
      this.#timing.pendingDeadlineMs * 1000,
      this.#timing.goneMs * 1000,
      this.#timing.idleMs,
      newborn.clockMarginMs * 1000,
      newborn.maxAgeMs * 1000,
      this.#process,
      request.retry === true ? 1 : 0,
      knowledge.kind === 'verified' ? (knowledge.mark?.replicaSet ?? '') : '',
    ];
    const answer = reply.decideReply(await this.#run(scripts.decidePlace, keys, args), this.#dirty.epoch);
    if (request.dryRun !== true) await this.#remember(revision, answer);
    return answer.decision;
  }

  async announce(revision: Revision, decision: OwnDecision): Promise<void> {
    this.#untold.add(revision, decision);
    // In a long outage nobody else would, and there are ever more of them.
    if (this.#now() - this.#droppedAtMs > storeWatchMs) this.#dropUntold();
    // Where nothing answers, what does again will be the first to tell of it.
    if (this.#mode === 'ready') await this.#tell(revision).catch(ignored);
  }

  async cancel(revision: Revision, token: string): Promise<void> {
    this.#recent.remove(revision, token);
    this.#untold.remove(revision, [token]);
    await this.#onPlaces(scripts.cancelPlace, revision, [
      token,
      this.#timing.goneMs * 1000,
      this.#timing.idleMs,
    ]);
  }

  async steer({
    workloadUid,
    ordinal,
    token,
    wanted,
    pool,
    dryRun = false,
  }: SteerRequest): Promise<Steering> {
    const keys = [this.#keys.breaker(workloadUid), this.#keys.reach(workloadUid)];
    const args = [ordinal, token, wanted, this.#poolOpen(pool), dryRun ? 1 : 0, this.#timing.idleMs];
    return reply.steerReply(await this.#run(scripts.steerOrdinal, keys, args));
  }

  async seen(revision: Revision, pod: LedgerPod): Promise<SeenOutcome> {
    const answer = await this.#onPlaces(scripts.seePod, revision, [
      ...reply.podFields(pod),
      this.#timing.goneMs * 1000,
      this.#timing.idleMs,
    ]);
    return reply.seenReply(answer);
  }

  async released(revision: Revision, token: string): Promise<void> {
    this.#recent.remove(revision, token);
    await this.#onPlaces(scripts.releasePod, revision, [
      token,
      this.#timing.goneMs * 1000,
      this.#timing.idleMs,
    ]);
  }

  async markList(revision: Revision): Promise<ListMark> {
    const answer = await this.#run(scripts.markList, [this.#keys.meta(revision)], []);
    return reply.listMark(reply.array(answer), this.#dirty.epoch);
  }

  async merge(revision: Revision, list: PodList, mark: ListMark): Promise<void> {
    const beganAnew = await mergeInChunks(list, mark, {
      run: async (script, args) => await this.#onPlaces(script, revision, args),
      connections: () => this.#connections,
      goneUs: this.#timing.goneMs * 1000,
      idleMs: this.#timing.idleMs,
    });
    if (beganAnew) await this.#command('UNLINK', [this.#keys.replicaSet(revision.replicaSetUid)]);
    this.#dirty.clean(revision.replicaSetUid, mark.epoch);
  }

  async rememberReplicaSet(replicaSetUid: string, info: ReplicaSetInfo): Promise<void> {
    const { owner, replicas, resourceVersion } = info;
    const revision = { workloadUid: owner.uid, replicaSetUid };
    await Promise.all([
      this.#run(
        scripts.rememberReplicaSet,
        [this.#keys.replicaSet(replicaSetUid)],
        [owner.uid, owner.name, replicas, resourceVersion, this.#timing.idleMs],
      ),
      this.#onPlaces(scripts.noteReplicas, revision, [replicas, resourceVersion, this.#timing.idleMs]),
    ]);
  }

  async replicaSet(replicaSetUid: string): Promise<ReplicaSetInfo | undefined> {
    const args = [this.#keys.replicaSet(replicaSetUid), 'owner', 'name', 'replicas', 'version'];
    return reply.replicaSetInfo(reply.array(await this.#command('HMGET', args)));
  }

  async breaker(workloadUid: string): Promise<StoredBreaker> {
    const args = [this.#keys.breaker(workloadUid), ...breakerFields];
    return reply.storedBreaker(reply.array(await this.#command('HMGET', args)));
  }

  async setBreaker(workloadUid: string, next: Breaker, expectedVersion: number): Promise<BreakerWrite> {
    const permits = next.state === 'half-open' ? next.permits : 0;
    const args = [expectedVersion, next.state, permits, next.memo ?? '', this.#timing.idleMs];
    const answer = await this.#run(scripts.writeBreaker, [this.#keys.breaker(workloadUid)], args);
    const [code, ...rest] = reply.array(answer);
    return code === 1
      ? { kind: 'written', version: Number(rest[0]) }
      : { kind: 'conflict', current: reply.storedBreaker(rest) };
  }

  async openPool(pool: string, openForMs: number): Promise<void> {
    await this.#run(scripts.writePool, [this.#keys.pools()], [pool, openForMs * 1000, this.#timing.idleMs]);
    await this.#store.look();
  }

  async closePool(pool: string): Promise<void> {
    await this.#run(scripts.writePool, [this.#keys.pools()], [pool, 0, this.#timing.idleMs]);
    await this.#store.look();
  }

  isPoolOpen(pool: string): boolean {
    return this.#store.poolOpen(pool);
  }

  async setReach(workloadUid: string, reach: ReadonlyMap<number, VolumeReach>): Promise<void> {
    const args = [this.#timing.idleMs, ...[...reach].flat()];
    await this.#run(scripts.writeReach, [this.#keys.reach(workloadUid)], args);
  }

  async counts(revision: Revision): Promise<LedgerCounts> {
    const answer = await this.#run(scripts.countPlaces, this.#keys.counted(revision), []);
    const [spot = 0, onDemand = 0, pending = 0, untyped = 0] = reply.array(answer).map(Number);
    return { spot, onDemand, untyped, pending };
  }

  async lookup(revision: Revision, tokens: readonly string[]): Promise<readonly (LedgerEntry | undefined)[]> {
    if (tokens.length === 0) return [];
    const values = reply.array(await this.#command('HMGET', [this.#keys.entries(revision), ...tokens]));
    return tokens.map((token, i) => {
      const value = values[i];
      return typeof value === 'string' ? reply.entry(token, value) : undefined;
    });
  }

  async entries(revision: Revision): Promise<readonly LedgerEntry[]> {
    // A scan may give an entry twice.
    const found = new Map<string, LedgerEntry>();
    let cursor = '0';
    do {
      const [next, page] = reply.array(
        await this.#command('HSCAN', [this.#keys.entries(revision), cursor, 'COUNT', 500]),
      );
      const flat = reply.array(page).map(reply.text);
      for (let i = 0; i + 1 < flat.length; i += 2) {
        const [token = '', value = ''] = flat.slice(i, i + 2);
        found.set(token, reply.entry(token, value));
      }
      cursor = reply.text(next);
    } while (cursor !== '0');
    return [...found.values()];
  }

  async remove(revision: Revision): Promise<void> {
    this.#dirty.forget(revision.replicaSetUid);
    this.#recent.forget(revision);
    this.#untold.forget(revision);
    await Promise.all([
      this.#command('UNLINK', this.#keys.places(revision)),
      this.#command('UNLINK', [this.#keys.replicaSet(revision.replicaSetUid)]),
    ]);
  }

  health(): LedgerHealth {
    const state = { mode: this.#mode, epoch: this.#dirty.epoch };
    return this.#code === undefined ? state : { ...state, code: this.#code };
  }

  async close(): Promise<void> {
    this.#store.stop();
    this.#connection.close();
  }

  async #remember(revision: Revision, { ledgerId, decision }: reply.DecideReply): Promise<void> {
    if (decision.kind === 'decided' && !decision.replay) this.#recent.add(revision, ledgerId, decision);
    const unknown = this.#recent.unknownTo(revision, ledgerId);
    if (unknown.length > 0) await this.#announce(revision, unknown);
  }

  /** Before anything is decided on a ledger, it has to know what this process decided without it. */
  async #tell(revision: Revision): Promise<void> {
    for (let untold = this.#untold.of(revision); untold.length > 0; untold = this.#untold.of(revision)) {
      await (this.#telling.get(revision.replicaSetUid) ?? this.#startTelling(revision, untold));
    }
  }

  #startTelling(revision: Revision, untold: readonly OwnDecision[]): Promise<void> {
    const { replicaSetUid } = revision;
    const telling = this.#announce(revision, untold)
      .then((ledgerId) => {
        for (const decision of untold) this.#recent.add(revision, ledgerId, decision);
        this.#untold.remove(
          revision,
          untold.map(({ token }) => token),
        );
      })
      .finally(() => this.#telling.delete(replicaSetUid));
    this.#telling.set(replicaSetUid, telling);
    return telling;
  }

  #tellAll(): void {
    this.#dropUntold();
    // Failing is counted where it happens; whoever decides next tries again.
    for (const revision of this.#untold.revisions()) this.#tell(revision).catch(ignored);
  }

  /** After so long the pods are there, and it is simpler to list them. */
  #dropUntold(): void {
    this.#droppedAtMs = this.#now();
    for (const ledger of this.#untold.dropOld()) this.#dirty.one(ledger);
  }

  async #announce(revision: Revision, decisions: readonly OwnDecision[]): Promise<string> {
    const { pendingDeadlineMs, goneMs, idleMs } = this.#timing;
    const told: string[] = [];
    // A few at a time, like any chunk.
    for (let start = 0; start < decisions.length; start += 100) {
      const args = [
        pendingDeadlineMs * 1000,
        goneMs * 1000,
        idleMs,
        this.#process,
        ...announcement(decisions.slice(start, start + 100)),
      ];
      const [id, contradicted] = reply.array(await this.#onPlaces(scripts.announcePlaces, revision, args));
      told.push(reply.text(id));
      // Another process decided for the same pod. Which answer it got, the pod itself has to say.
      if (contradicted !== 0) this.#dirty.one(revision.replicaSetUid);
    }
    const ledgerId = told.at(-1) ?? '';
    this.#recent.announced(revision, ledgerId);
    return ledgerId;
  }

  #announceAll(): void {
    for (const { revision, decisions } of this.#recent.all()) {
      // Failing is counted where it happens, and LISTs find the pods in the end.
      this.#announce(revision, decisions).catch(ignored);
    }
  }

  #onReady(again: boolean): void {
    if (again) {
      this.#connections++;
      this.#dirty.all();
      // Before any decision: commands keep their order on the connection.
      this.#announceAll();
    }
    this.#setMode('ready', undefined);
    void this.#store.look();
  }

  /** In a Cluster the epoch has a slot of its own, and one node may be emptied alone: every ledger starts by a LIST. */
  #epochKey({ workloadUid }: Revision): string {
    return this.#connection.isCluster ? this.#keys.noEpoch(workloadUid) : this.#keys.epoch();
  }

  #poolOpen(pool: string | undefined): 0 | 1 {
    return pool !== undefined && this.isPoolOpen(pool) ? 1 : 0;
  }

  async #onPlaces(script: Script, revision: Revision, args: readonly (string | number)[]): Promise<unknown> {
    return await this.#run(script, this.#keys.places(revision), args);
  }

  async #run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const [operation = script.name] = script.name.split(':');
    return await this.#observed(operation, async () => await this.#connection.run(script, keys, args));
  }

  async #command(name: string, args: readonly (string | number)[]): Promise<unknown> {
    return await this.#observed(name.toLowerCase(), async () => await this.#connection.command(name, args));
  }

  async #observed(operation: string, call: () => Promise<unknown>): Promise<unknown> {
    const startedAt = this.#now();
    let outcome = 'ok';
    try {
      return await call();
    } catch (error) {
      outcome = error instanceof LedgerUnavailable ? error.code : 'LEDGER_REFUSED';
      throw error;
    } finally {
      this.#observer.operation?.({ operation, durationMs: this.#now() - startedAt, outcome });
    }
  }

  #setMode(mode: LedgerMode, code: string | undefined): void {
    if (mode === this.#mode && code === this.#code) return;
    this.#mode = mode;
    this.#code = code;
    if (mode === 'ready') this.#tellAll();
    this.#observer.mode?.(mode, code);
  }
}

const ignored = (): void => undefined;

function announcement(decisions: readonly OwnDecision[]): (string | number)[] {
  return decisions.flatMap(({ token, type, rank, substitute }) => [
    token,
    reply.typeCode(type),
    rank,
    substitute ? 1 : 0,
  ]);
}
