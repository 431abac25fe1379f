import { type CapacityType, type PodCounts, typeForNext } from '@spotalis/core';
import type {
  DecideRequest,
  Decision,
  Knowledge,
  LedgerCounts,
  LedgerEntry,
  LedgerPod,
  ListMark,
  ListReason,
  OwnDecision,
  PodList,
  ReplicaCount,
  SeenOutcome,
} from '../ledger.ts';
import { compareResourceVersions, laterResourceVersion } from '../resource-version.ts';
import { type LedgerTiming, newborn } from '../timing.ts';
import type { BreakerBook } from './breaker-book.ts';

interface Place {
  readonly type: CapacityType | null;
  readonly rank: number | undefined;
  readonly substitute: boolean;
}

const noPlace: Place = { type: null, rank: undefined, substitute: false };

type Entry = Place &
  /** `by`: the process that asked. */
  (
    | { readonly state: 'pending'; readonly deadlineUs: number; readonly by: string }
    /** `asOf`: the pod was as it is here at this resourceVersion: its own, or that of a list it was on. */
    | { readonly state: 'live'; readonly asOf: string }
  );

/** What the book's owner knows that the request does not say. */
export interface DecideContext {
  readonly nowUs: number;
  /** The process that asks. */
  readonly by: string;
  readonly dirty: boolean;
  readonly breaker: BreakerBook;
  readonly poolOpen: boolean;
  /** Since when nothing written to the store was lost. */
  readonly storeSinceUs: number;
}

/**
 * The places of one ReplicaSet: the rules, plainly, in the order in which the Lua scripts have them. Linear in the
 * number of pods, which one process serving one cluster can afford; the scripts are not.
 */
export class RevisionBook {
  readonly #timing: LedgerTiming;
  readonly #entries = new Map<string, Entry>();
  readonly #gone = new Map<string, number>();
  readonly #cancelled = new Map<string, number>();
  #seeded = false;
  #lastReleaseUs = 0;
  #lastListUs = 0;
  #replicas: ReplicaCount | undefined;
  /** The latest resourceVersion of a pod or a list. */
  #newest: string | undefined;

  constructor(timing: LedgerTiming) {
    this.#timing = timing;
  }

  decide(request: DecideRequest, context: DecideContext): Decision {
    const { token, carried, knowledge, dryRun = false, retry = false } = request;
    const { nowUs, by } = context;

    const known = this.#entries.get(token);
    if (known !== undefined) {
      const asked = retry && known.state === 'pending' && known.by === by;
      return this.#again(token, known, !asked);
    }
    // A reinvocation is a new call for a pod that carries the answer of the first.
    const first = carried === undefined ? undefined : this.#entries.get(carried);
    if (carried !== undefined && first?.state === 'pending') return this.#again(carried, first, true);
    if (this.#isGone(token, nowUs) || this.#isCancelled(token, nowUs)) {
      return this.#decided(token, { type: 'on-demand', rank: 0, substitute: false }, true);
    }

    const current = this.#currentCount(knowledge);
    if (current === undefined) return { kind: 'need-replicaset' };
    if (!dryRun) this.#replicas = current;

    if (knowledge.kind === 'verified') {
      if (!dryRun) this.#dropGhosts(current.replicas);
    } else {
      let { seeded, lastListUs } = { seeded: this.#seeded, lastListUs: this.#lastListUs };
      if (!seeded && this.#mayStartEmpty(request, context)) {
        seeded = true;
        lastListUs = nowUs;
        if (!dryRun) {
          this.#seeded = true;
          this.#lastListUs = nowUs;
        }
      }
      const full = this.#entries.size >= current.replicas;
      const reason = this.#whyList(context, seeded, lastListUs, full && knowledge.kind === 'fresh');
      if (reason !== undefined) {
        return { kind: 'need-list', reason, mark: this.mark(nowUs) };
      }
      if (full) return { kind: 'need-replicaset' };
    }

    const place = this.#nextPlace(request, context);
    const answer = this.#decided(token, place, false, place.type);
    if (!dryRun) {
      const deadlineUs = nowUs + this.#timing.pendingDeadlineMs * 1000;
      this.#entries.set(token, { state: 'pending', ...place, deadlineUs, by });
    }
    return answer;
  }

  cancel(token: string, nowUs: number): void {
    if (this.#entries.get(token)?.state === 'live') return;
    this.#entries.delete(token);
    this.#cancelled.set(token, nowUs);
    this.#forgetOld(nowUs);
  }

  /**
   * Decisions of one process, by itself, whose pods may not exist yet. What it had asked before without hearing an
   * answer gives way to them. False where another process decided for one of the tokens, too: which of the two answers
   * the pod got, only a LIST can say.
   */
  announce(decisions: readonly OwnDecision[], by: string, nowUs: number): boolean {
    let agreed = true;
    for (const { token, type, rank, substitute } of decisions) {
      const entry = this.#entries.get(token);
      if (entry?.state === 'live' || this.#isGone(token, nowUs) || this.#isCancelled(token, nowUs)) continue;
      if (entry?.type === type && entry.rank === rank) continue;
      if (entry !== undefined && entry.by !== by) {
        agreed = false;
        continue;
      }
      const deadlineUs = nowUs + this.#timing.pendingDeadlineMs * 1000;
      this.#entries.set(token, { state: 'pending', type, rank, substitute, deadlineUs, by });
    }
    return agreed;
  }

  seen(pod: LedgerPod, nowUs: number): SeenOutcome {
    if (this.#isGone(pod.token, nowUs)) return 'gone';
    const entry = this.#entries.get(pod.token);
    if (
      entry?.state === 'live' &&
      compareResourceVersions(entry.asOf, pod.resourceVersion) >= 0 &&
      !isTypeNews(entry, pod)
    )
      return 'outdated';
    this.#putLive(pod, pod.resourceVersion);
    this.#newest = laterOf(this.#newest, pod.resourceVersion);
    return 'recorded';
  }

  released(token: string, nowUs: number): void {
    // After the last list, and after one that began since the last release, even if the clock was set back: a release
    // must never look as old as a list that may not have seen it.
    const atUs = Math.max(nowUs, this.#lastReleaseUs + 2, this.#lastListUs + 1);
    if (this.#entries.delete(token)) this.#lastReleaseUs = atUs;
    this.#gone.set(token, atUs);
    this.#forgetOld(nowUs);
  }

  mark(nowUs: number): ListMark {
    return {
      atUs: Math.max(nowUs, this.#lastReleaseUs + 1),
      epoch: 0,
      ...(this.#newest === undefined ? {} : { pods: this.#newest }),
      ...(this.#replicas === undefined ? {} : { replicaSet: this.#replicas.resourceVersion }),
    };
  }

  /** Returns whether the list showed that the API server's store went back, so that nothing else is left. */
  merge(list: PodList, mark: ListMark, nowUs: number): boolean {
    const { resourceVersion } = list;
    const markUs = mark.atUs;
    const wentBack = this.#wentBack(mark, resourceVersion);
    if (wentBack) this.#beginAnew();
    this.#newest = laterOf(this.#newest, resourceVersion);
    for (const pod of list.pods) {
      const goneAt = this.#isGone(pod.token, nowUs) ? this.#gone.get(pod.token) : undefined;
      if (goneAt !== undefined && goneAt >= markUs) continue;
      this.#gone.delete(pod.token);
      const entry = this.#entries.get(pod.token);
      if (
        entry?.state === 'live' &&
        compareResourceVersions(entry.asOf, resourceVersion) > 0 &&
        !isTypeNews(entry, pod)
      )
        continue;
      this.#putLive(pod, laterResourceVersion(pod.resourceVersion, resourceVersion));
    }
    // A mark may be that of a release before the clock was set back; deadlines are of the clock as it is.
    const expiredUs = Math.min(markUs, nowUs);
    for (const [token, entry] of this.#entries) {
      if (entry.state === 'live' && compareResourceVersions(entry.asOf, resourceVersion) < 0) {
        this.#entries.delete(token);
        this.#gone.set(token, nowUs);
      } else if (entry.state === 'pending' && entry.deadlineUs < expiredUs) {
        this.#entries.delete(token);
      }
    }
    this.#seeded = true;
    this.#lastListUs = Math.max(this.#lastListUs, markUs);
    this.#forgetOld(nowUs);
    return wentBack;
  }

  noteReplicas(count: ReplicaCount): void {
    this.#replicas = laterCount(this.#replicas, count);
  }

  counts(): LedgerCounts {
    const entries = [...this.#entries.values()];
    return { ...this.#podCounts(), pending: entries.filter((entry) => entry.state === 'pending').length };
  }

  lookup(token: string): LedgerEntry | undefined {
    const entry = this.#entries.get(token);
    if (entry === undefined) return undefined;
    const { type, rank, substitute } = entry;
    const place = { token, type, substitute, ...(rank === undefined ? {} : { rank }) };
    return entry.state === 'pending'
      ? { ...place, state: 'pending' }
      : { ...place, state: 'live', resourceVersion: entry.asOf };
  }

  entries(): readonly LedgerEntry[] {
    return [...this.#entries.keys()].flatMap((token) => this.lookup(token) ?? []);
  }

  /** Of two counts the later wins; but one that was verified wins over what was known when its LIST was asked for. */
  #currentCount(knowledge: Knowledge): ReplicaCount | undefined {
    const known = this.#replicas;
    if (known !== undefined && knowledge.kind === 'verified') {
      const asked = knowledge.mark?.replicaSet;
      if (asked !== undefined && compareResourceVersions(known.resourceVersion, asked) <= 0) {
        return knowledge.replicas;
      }
    }
    return laterCount(known, knowledge.replicas);
  }

  /** A list that is older than what was known before it shows that etcd was restored, unless one has shown it since. */
  #wentBack({ pods }: ListMark, listed: string): boolean {
    if (pods === undefined || compareResourceVersions(pods, listed) <= 0) return false;
    return this.#newest !== undefined && compareResourceVersions(this.#newest, pods) >= 0;
  }

  #beginAnew(): void {
    this.#entries.clear();
    this.#gone.clear();
    this.#cancelled.clear();
    this.#replicas = undefined;
    this.#newest = undefined;
  }

  #whyList(
    { nowUs, dirty }: DecideContext,
    seeded: boolean,
    lastListUs: number,
    fullOnFresh: boolean,
  ): ListReason | undefined {
    if (!seeded) return 'unseeded';
    if (dirty) return 'dirty';
    for (const entry of this.#entries.values()) {
      // Expiry never drops silently: whether the pod exists is for a LIST to say.
      if (entry.state === 'pending' && entry.deadlineUs < nowUs) return 'expired-pending';
    }
    // One seen release means that others may be unseen.
    if (this.#lastReleaseUs > lastListUs) return 'release-seen';
    return fullOnFresh ? 'full' : undefined;
  }

  #mayStartEmpty({ birth }: DecideRequest, { nowUs, dirty, storeSinceUs }: DecideContext): boolean {
    if (birth === undefined || !birth.untouched || dirty) return false;
    const createdAtUs = birth.createdAtMs * 1000;
    return (
      createdAtUs > storeSinceUs + newborn.clockMarginMs * 1000 &&
      createdAtUs <= nowUs &&
      nowUs - createdAtUs < newborn.maxAgeMs * 1000
    );
  }

  /** A ReplicaSet never has more pods than replicas, so the surplus are reservations whose pod never came. */
  #dropGhosts(replicas: number): void {
    while (this.#entries.size + 1 > replicas) {
      let oldest: { token: string; deadlineUs: number } | undefined;
      for (const [token, entry] of this.#entries) {
        if (entry.state !== 'pending') continue;
        // The deadline is the age plus a constant.
        if (oldest === undefined || entry.deadlineUs < oldest.deadlineUs) {
          oldest = { token, deadlineUs: entry.deadlineUs };
        }
      }
      if (oldest === undefined) return;
      this.#entries.delete(oldest.token);
    }
  }

  #nextPlace({ token, policy, allowed, dryRun = false }: DecideRequest, context: DecideContext) {
    let type = allowed === 'both' ? typeForNext(policy, this.#podCounts()) : allowed;
    let substitute = false;
    if (type === 'spot' && allowed === 'both') {
      const { breaker, poolOpen, nowUs } = context;
      if (!breaker.letsSpotThrough(token, poolOpen, nowUs, dryRun)) {
        type = 'on-demand';
        substitute = true;
      }
    }
    return { type, rank: this.#lowestFreeRank(type), substitute };
  }

  #lowestFreeRank(type: CapacityType): number {
    const used = new Set<number | undefined>();
    for (const entry of this.#entries.values()) if (entry.type === type) used.add(entry.rank);
    let rank = 0;
    while (used.has(rank)) rank++;
    return rank;
  }

  #putLive(pod: LedgerPod, asOf: string): void {
    const known = this.#entries.get(pod.token);
    const { type, rank, substitute = false } = pod.type === null ? (known ?? noPlace) : pod;
    const latest = known?.state === 'live' ? laterResourceVersion(known.asOf, asOf) : asOf;
    this.#entries.set(pod.token, { state: 'live', type, rank, substitute, asOf: latest });
  }

  #again(token: string, { type, rank, substitute }: Entry, replay: boolean): Decision {
    return this.#decided(token, { type: type ?? 'on-demand', rank: rank ?? 0, substitute }, replay);
  }

  #decided(
    token: string,
    { type, rank, substitute }: { type: CapacityType; rank: number; substitute: boolean },
    replay: boolean,
    adding?: CapacityType,
  ): Decision {
    const { spot, onDemand, untyped } = this.#podCounts();
    const counts = {
      spot: spot + (adding === 'spot' ? 1 : 0),
      onDemand: onDemand + (adding === 'on-demand' ? 1 : 0),
      untyped,
    };
    return { kind: 'decided', type, rank, token, replay, substitute, counts };
  }

  #podCounts(): Required<PodCounts> {
    let spot = 0;
    let untyped = 0;
    for (const { type } of this.#entries.values()) {
      if (type === 'spot') spot++;
      if (type === null) untyped++;
    }
    return { spot, onDemand: this.#entries.size - spot - untyped, untyped };
  }

  #isGone(token: string, nowUs: number): boolean {
    return isRecent(this.#gone.get(token), nowUs, this.#timing.goneMs);
  }

  #isCancelled(token: string, nowUs: number): boolean {
    return isRecent(this.#cancelled.get(token), nowUs, this.#timing.goneMs);
  }

  #forgetOld(nowUs: number): void {
    for (const tombs of [this.#gone, this.#cancelled]) {
      for (const [token, atUs] of tombs) {
        if (!isRecent(atUs, nowUs, this.#timing.goneMs)) tombs.delete(token);
      }
    }
  }
}

/** No version is needed to believe it: what was known before was nothing. */
function isTypeNews(known: Place, { type }: LedgerPod): boolean {
  return known.type === null && type !== null;
}

function isRecent(atUs: number | undefined, nowUs: number, keptMs: number): boolean {
  return atUs !== undefined && atUs > nowUs - keptMs * 1000;
}

function laterCount(a: ReplicaCount | undefined, b: ReplicaCount | undefined): ReplicaCount | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareResourceVersions(b.resourceVersion, a.resourceVersion) > 0 ? b : a;
}

const laterOf = (known: string | undefined, version: string): string =>
  known === undefined ? version : laterResourceVersion(known, version);
