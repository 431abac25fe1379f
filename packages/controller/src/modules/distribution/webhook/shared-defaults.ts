import type { OtherDefaults } from '@spotalis/core';

/** Most webhooks read a changed file within so long of each other. */
const FIRST_PAUSE_MS = 60_000;
/** Between trials where one never reads it. */
const LONGEST_PAUSE_MS = 600_000;
/** How long after a trial a pod that shows the same defaults may bring the next one forward: of several webhooks one may have them. */
const SIGN_PAUSE_MS = 30_000;

const NEVER = 0;

/**
 * Notices that webhooks admit pods by other `defaults` than this leader has. A changed file reaches each process at its
 * own time, and until then a replacement comes back as the pod that went. Only replacements end it: of several webhooks
 * another one may have admitted the other pods.
 */
export class SharedDefaults {
  #changedAtMs = NEVER;
  #trials: { readonly lastAtMs: number; readonly nextAtMs: number; readonly count: number } | undefined;

  /** Those of this process did: one move shows whether webhooks have them, too. */
  changed(nowMs: number): void {
    this.#changedAtMs = nowMs;
    this.#trials = { lastAtMs: NEVER, nextAtMs: NEVER, count: 0 };
  }

  /** A replacement came. Returns whether moves are held from now on, or no longer; null: nothing changed. */
  arrived(isSame: boolean, createdAtMs: number, nowMs: number): 'held' | 'free' | null {
    if (createdAtMs < this.#changedAtMs) return null;
    if (isSame === (this.#trials === undefined)) return null;
    this.#trials = isSame ? undefined : { lastAtMs: nowMs, nextAtMs: nowMs + FIRST_PAUSE_MS, count: 0 };
    return isSame ? 'free' : 'held';
  }

  /**
   * A move of a workload that relies on `defaults` is begun. Returns what to call if it is refused: then it shows
   * nothing, and another one may.
   */
  tried(nowMs: number): () => void {
    const before = this.#trials;
    if (before === undefined) return () => undefined;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** before.count);
    const begun = { lastAtMs: nowMs, nextAtMs: nowMs + pauseMs, count: before.count + 1 };
    this.#trials = begun;
    return () => {
      if (this.#trials === begun) this.#trials = before;
    };
  }

  /** A pod that is no replacement was admitted by the same defaults. Returns whether a trial is due now. */
  cameThrough(createdAtMs: number): boolean {
    if (this.#trials === undefined || this.#trials.nextAtMs === NEVER) return false;
    if (createdAtMs < this.#trials.lastAtMs + SIGN_PAUSE_MS) return false;
    this.#trials = { ...this.#trials, nextAtMs: NEVER };
    return true;
  }

  /** Whether a move that relies on them may begin. */
  allows(nowMs: number): boolean {
    return this.#trials === undefined || this.#trials.nextAtMs <= nowMs;
  }

  get state(): OtherDefaults | null {
    return this.#trials === undefined ? null : { nextTrialAtMs: this.#trials.nextAtMs };
  }
}
