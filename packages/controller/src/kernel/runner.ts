import type { EvictIntent, RemovalIntent } from '@spotalis/core';
import { asError, LOW_PRIORITY, type ReconcileResult } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import type { Executor } from './disruption/executor.ts';
import { askerOf, type Decision, type Intent, type Module, type OpenModule, type Outcome } from './module.ts';
import type { Workers } from './workers.ts';

/** Something is about to be known: a store catches up. */
const SOON_MS = 500;
/** After a take-over that failed. */
const LEAD_AGAIN_MS = 5_000;

export interface RunnerParts {
  readonly name: Module['name'];
  readonly module: OpenModule;
  readonly workers: Workers;
  readonly executor: Pick<Executor, 'evict' | 'remove' | 'withdraw'>;
  /** Whether its own resources can be read; without them nothing is decided. */
  readonly isAvailable: () => boolean;
  readonly mayWrite: () => boolean;
  /** Wall clock: windows, and the ages of pods, are told by it. */
  readonly now: () => number;
  readonly logger: Logger;
}

type Decided = Decision<unknown, unknown>;

/** What a look has come to so far. */
interface Look {
  decision: Decided;
  againInMs: number;
  /** Handed over in this look: nothing is asked for twice. */
  readonly asked: Set<string>;
}

/** Runs one module while this process leads: its queue, and each look from the subject to the report. */
export class Runner {
  readonly name: Module['name'];
  readonly #parts: RunnerParts;
  /** By subject and id: what waits for a grant. */
  readonly #waiting = new Map<string, Map<string, Intent>>();
  /** Subjects with something to do after the take-over. */
  readonly #heldBack = new Set<string>();
  #leading: { readonly leave: () => Promise<void> } | undefined;
  #isTakingOver = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.name = parts.name;
  }

  /** Begins to lead. */
  start(): void {
    const { module, workers } = this.#parts;
    const unfollow = module.follow((subject, options) => workers.queue.add(subject, options));
    const stopping = new AbortController();
    const taken = this.#takeOver(stopping.signal);
    this.#leading = {
      leave: async () => {
        unfollow();
        stopping.abort();
        const leave = await taken;
        await leave?.();
      },
    };
    this.again();
    workers.start((subject) => this.look(subject));
  }

  async stop(): Promise<void> {
    const leading = this.#leading;
    this.#leading = undefined;
    await Promise.all([leading?.leave(), this.#parts.workers.stop()]);
  }

  /** Looks at everything again, when there is time: what all subjects depend on has changed. */
  again(): void {
    if (this.#leading === undefined) return;
    for (const subject of this.#parts.module.subjects()) {
      this.#parts.workers.queue.add(subject, { priority: LOW_PRIORITY });
    }
  }

  /** Looks at one subject again, after so long. */
  lookAgain(subject: string, afterMs: number): void {
    if (this.#leading !== undefined) this.#parts.workers.queue.add(subject, { afterMs });
  }

  /** One look at one subject. */
  async look(subject: string): Promise<ReconcileResult | undefined> {
    const { module, now } = this.#parts;
    // When they can be read all are looked at. Until then nobody would confirm what was asked for.
    if (!this.#parts.isAvailable()) {
      this.#withdraw(subject, []);
      return undefined;
    }
    await module.read?.(subject, 'look');
    const first = this.#decide(subject);
    this.#withdraw(subject, first?.intents ?? []);
    if (first === null) return requeue(module.forget(subject));
    const look: Look = { decision: first, againInMs: Number.POSITIVE_INFINITY, asked: new Set() };
    await this.#carryOut(subject, look);
    const nowMs = now();
    const { trace, againAtMs } = look.decision;
    const toldAgainMs = module.report(subject, trace, nowMs);
    const dueMs = againAtMs === null ? Number.POSITIVE_INFINITY : Math.max(0, againAtMs - nowMs);
    return requeue(Math.min(look.againInMs, dueMs, toldAgainMs ?? Number.POSITIVE_INFINITY));
  }

  #decide(subject: string): Decided | null {
    const { module, now } = this.#parts;
    const nowMs = now();
    module.observe?.(subject);
    const snapshot = module.snapshot(subject, nowMs);
    return snapshot === null ? null : module.decide(snapshot, nowMs);
  }

  async #carryOut(subject: string, look: Look): Promise<void> {
    if (this.#isTakingOver) {
      this.#holdBack(subject, look);
      return;
    }
    for (let carried: Decided | undefined; carried !== look.decision; ) {
      carried = look.decision;
      const isHeld = await this.#apply(subject, look);
      if (isHeld || carried !== look.decision) continue;
      for (const intent of carried.intents) {
        const key = `${intent.kind} ${intent.id}`;
        if (look.asked.has(key)) continue;
        look.asked.add(key);
        const outcome = await this.#ask(subject, intent, look);
        // What confirmed an eviction was looked at for nothing else.
        if (outcome.kind === 'sent') carried = look.decision;
        this.#settle(subject, intent, outcome, look);
        if (carried !== look.decision) break;
      }
    }
  }

  /** Decided and reported, and nothing is done. */
  #holdBack(subject: string, look: Look): void {
    const { intents, effects } = look.decision;
    if (intents.length > 0 || effects.length > 0) this.#heldBack.add(subject);
    const [intent] = intents;
    if (intent === undefined) return;
    this.#settle(subject, intent, { kind: 'deferred', deferral: { reason: 'TakingOver' } }, look);
  }

  /** Returns whether nothing is to be asked for. */
  async #apply(subject: string, look: Look): Promise<boolean> {
    const { module } = this.#parts;
    let isHeld = false;
    let decideAgain = false;
    for (const effect of look.decision.effects) {
      const applied = await module.apply?.(subject, effect, () => this.#mayActOn(subject));
      look.againInMs = Math.min(look.againInMs, applied?.againInMs ?? Number.POSITIVE_INFINITY);
      isHeld ||= applied?.isHeld ?? false;
      decideAgain ||= applied?.decideAgain ?? false;
    }
    if (decideAgain) look.decision = this.#decide(subject) ?? look.decision;
    return isHeld;
  }

  #ask(subject: string, intent: Intent, look: Look): Promise<Outcome> {
    return intent.kind === 'evict'
      ? this.#evict(subject, intent, look)
      : this.#remove(subject, intent, look.decision);
  }

  /** A grant is confirmed by a fresh look: another pod is granted anew, and none is none. */
  async #evict(subject: string, intent: EvictIntent, look: Look): Promise<Outcome> {
    const { module, executor } = this.#parts;
    return executor.evict(intent, async () => {
      await module.read?.(subject, 'grant');
      const fresh = this.#decide(subject);
      if (fresh === null) {
        look.againInMs = Math.min(look.againInMs, SOON_MS);
        return null;
      }
      look.decision = fresh;
      const confirmed = fresh.intents.find((one) => one.kind === 'evict' && one.id === intent.id);
      if (confirmed?.kind !== 'evict' || !this.#mayActOn(subject)) return null;
      const brought = module.confirmed?.(subject, confirmed, fresh.trace);
      return { room: null, hasPdb: false, hooks: {}, ...brought, intent: confirmed };
    });
  }

  async #remove(subject: string, intent: RemovalIntent, { trace }: Decided): Promise<Outcome> {
    const { module, executor } = this.#parts;
    const removed = await executor.remove(
      intent,
      () => this.#mayActOn(subject),
      (pod) => module.removed?.(subject, trace, pod),
    );
    return { kind: 'removed', ...removed };
  }

  #settle(subject: string, intent: Intent, outcome: Outcome, look: Look): void {
    if (outcome.kind === 'deferred' || outcome.kind === 'removed') this.#awaits(subject, intent);
    else this.#waiting.get(subject)?.delete(intent.id);
    const settled = this.#parts.module.settled(subject, look.decision, intent, outcome);
    look.decision = settled.decision;
    look.againInMs = Math.min(look.againInMs, settled.againInMs ?? Number.POSITIVE_INFINITY);
  }

  #mayActOn(subject: string): boolean {
    const { mayWrite, module } = this.#parts;
    return mayWrite() && (module.mayActOn?.(subject) ?? true);
  }

  #awaits(subject: string, intent: Intent): void {
    const waiting = this.#waiting.get(subject) ?? new Map<string, Intent>();
    this.#waiting.set(subject, waiting.set(intent.id, intent));
  }

  /** Takes back what is not wanted any more. */
  #withdraw(subject: string, wanted: readonly Intent[]): void {
    const waiting = this.#waiting.get(subject);
    if (waiting === undefined) return;
    for (const [id, { workload }] of waiting) {
      if (wanted.some((intent) => intent.id === id && intent.workload.uid === workload.uid)) continue;
      this.#parts.executor.withdraw(id, workload.uid);
      waiting.delete(id);
    }
    if (waiting.size === 0) this.#waiting.delete(subject);
  }

  async #takeOver(signal: AbortSignal): Promise<(() => void | Promise<void>) | undefined> {
    const { module, logger } = this.#parts;
    if (module.lead === undefined) return undefined;
    this.#isTakingOver = true;
    while (!signal.aborted) {
      try {
        const leave = await module.lead(signal);
        this.#isTakingOver = false;
        for (const subject of this.#heldBack) this.lookAgain(subject, 0);
        this.#heldBack.clear();
        return leave;
      } catch (thrown) {
        if (signal.aborted) return undefined;
        logger.warn('not taken over yet; trying again', { module: this.name, error: asError(thrown) });
        await pause(LEAD_AGAIN_MS, signal);
      }
    }
    return undefined;
  }
}

/** The runners of all modules, for those who name a module. */
export class Runners {
  readonly #runners = new Map<string, Runner>();

  add(runner: Runner): void {
    this.#runners.set(runner.name, runner);
  }

  start(): void {
    for (const runner of this.#runners.values()) runner.start();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.stop()));
  }

  again(): void {
    for (const runner of this.#runners.values()) runner.again();
  }

  againFor(name: string): void {
    this.#runners.get(name)?.again();
  }

  /** Looks at what asked, as `askerOf` names it. */
  wake(asker: string): void {
    for (const [name, runner] of this.#runners) {
      const prefix = askerOf(name, '');
      if (asker.startsWith(prefix)) runner.lookAgain(asker.slice(prefix.length), 0);
    }
  }
}

const requeue = (afterMs: number | undefined): ReconcileResult | undefined =>
  afterMs === undefined || afterMs === Number.POSITIVE_INFINITY ? undefined : { requeueAfterMs: afterMs };

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
