import type { WebhookState } from '@spotalis/core';

/** So many replacements in a row that admission never saw, and moving stops. */
const TOLERATED = 3;
/**
 * How long after the last trial a pod that came through may bring the next one forward. Of several API servers one may
 * reach the webhook and another one not: such pods then come all the time, and replacements still pass it by.
 */
const SIGN_AFTER_MS = 30_000;

const LONG_AGO = 0;

/**
 * Notices that pods are created past the webhook although it can be reached from here: a replacement would then be of
 * any type, and moving would go on for ever.
 */
export class Bypass {
  #inARow = 0;
  #lastTrialAtMs: number | undefined;

  /** A replacement came. Returns whether this changed what `state` says. */
  arrived(steered: boolean, nowMs: number): boolean {
    const before = this.#lastTrialAtMs;
    this.#inARow = steered ? 0 : this.#inARow + 1;
    if (steered) this.#lastTrialAtMs = undefined;
    else if (this.#inARow >= TOLERATED) this.#lastTrialAtMs ??= nowMs;
    return (before === undefined) !== (this.#lastTrialAtMs === undefined);
  }

  /** A move was begun to see whether the webhook is in the way again. */
  tried(nowMs: number): void {
    if (this.#lastTrialAtMs !== undefined) this.#lastTrialAtMs = nowMs;
  }

  /**
   * A pod that is no replacement came through the webhook: it is in the way again, it seems. Returns whether a trial is
   * due now, which is what shows it.
   */
  cameThrough(createdAtMs: number): boolean {
    if (this.#lastTrialAtMs === undefined || this.#lastTrialAtMs === LONG_AGO) return false;
    if (createdAtMs < this.#lastTrialAtMs + SIGN_AFTER_MS) return false;
    this.#lastTrialAtMs = LONG_AGO;
    return true;
  }

  /** Whether one more move may begin while that many replacements have not been seen. */
  allows(unproven: number): boolean {
    return this.#lastTrialAtMs === undefined ? this.#inARow + unproven < TOLERATED : unproven === 0;
  }

  get state(): Extract<WebhookState, { kind: 'bypassed' }> | undefined {
    return this.#lastTrialAtMs === undefined
      ? undefined
      : { kind: 'bypassed', lastTrialAtMs: this.#lastTrialAtMs };
  }
}
