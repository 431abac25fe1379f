import type { DirtyMarks } from '../dirty.ts';
import type { DecideRequest, Decision, LedgerPod, ListMark, OwnDecision, PodList } from '../ledger.ts';
import { BreakerBook } from '../memory/breaker-book.ts';
import { RevisionBook } from '../memory/revision-book.ts';
import { defaultTiming } from '../timing.ts';
import type { Agenda } from './agenda.ts';

/**
 * The embedded ledger's own rules in the place of Redis, with what a Redis suffers: a flush forgets everything, a
 * failover the last of it.
 */
export class SimulatedLedger {
  readonly #agenda: Agenda;
  #book = new RevisionBook(defaultTiming);
  #journal: { atMs: number; apply: (book: RevisionBook) => unknown }[] = [];
  #lastUs = 0;

  constructor(agenda: Agenda) {
    this.#agenda = agenda;
  }

  decide(request: DecideRequest, by: string, dirty: DirtyMarks): Decision {
    const nowUs = this.#tick();
    const context = {
      nowUs,
      by,
      dirty: dirty.isDirty(request.revision.replicaSetUid),
      breaker: new BreakerBook(),
      poolOpen: false,
      storeSinceUs: 0,
    };
    const decision = this.#apply((book) => book.decide(request, context));
    if (decision.kind !== 'need-list') return decision;
    return { ...decision, mark: { ...decision.mark, epoch: dirty.epoch } };
  }

  announce(decisions: readonly OwnDecision[], by: string): boolean {
    const nowUs = this.#tick();
    return this.#apply((book) => book.announce(decisions, by, nowUs));
  }

  markList(): ListMark {
    return this.#book.mark(this.#tick());
  }

  merge(list: PodList, mark: ListMark): void {
    const nowUs = this.#tick();
    this.#apply((book) => book.merge(list, mark, nowUs));
  }

  seen(pod: LedgerPod): void {
    const nowUs = this.#tick();
    this.#apply((book) => book.seen(pod, nowUs));
  }

  released(token: string): void {
    const nowUs = this.#tick();
    this.#apply((book) => book.released(token, nowUs));
  }

  tokens(): string[] {
    return this.#book.entries().map(({ token }) => token);
  }

  flush(): void {
    this.#book = new RevisionBook(defaultTiming);
    this.#journal = [];
  }

  /** What the replica had: all but the last moments. */
  failOver(lostMs: number): void {
    const kept = this.#journal.filter(({ atMs }) => atMs <= this.#agenda.nowMs - lostMs);
    this.flush();
    for (const { apply } of kept) apply(this.#book);
    this.#journal = kept;
  }

  #apply<T>(apply: (book: RevisionBook) => T): T {
    this.#journal.push({ atMs: this.#agenda.nowMs, apply });
    return apply(this.#book);
  }

  #tick(): number {
    this.#lastUs = Math.max(this.#lastUs + 1, Math.round((this.#agenda.nowMs + 1) * 1000));
    return this.#lastUs;
  }
}
