import type { Breaker, BreakerWrite, StoredBreaker } from '../ledger.ts';

/** A workload's breaker. A permit is counted here, where a decision takes it, so that it is never given twice. */
export class BreakerBook {
  #breaker: Breaker = { state: 'closed' };
  #version = 0;
  #permitTakenAtUs: number | undefined;
  #permitTakenBy: string | undefined;

  /** Half-open goes before the pool's breaker: a pool is probed by giving one workload a permit. */
  letsSpotThrough(token: string, poolOpen: boolean, nowUs: number, dryRun: boolean): boolean {
    const breaker = this.#breaker;
    if (breaker.state === 'open') return false;
    if (breaker.state === 'closed') return !poolOpen;
    if (this.#permitTakenBy === token) return true;
    if (breaker.permits <= 0) return false;
    if (!dryRun) {
      this.#breaker = { ...breaker, permits: breaker.permits - 1 };
      this.#version++;
      this.#permitTakenAtUs = nowUs;
      this.#permitTakenBy = token;
    }
    return true;
  }

  read(): StoredBreaker {
    const taken = this.#permitTakenAtUs;
    return {
      ...this.#breaker,
      version: this.#version,
      ...(taken === undefined ? {} : { permitTakenAtMs: Math.floor(taken / 1000) }),
    };
  }

  write(next: Breaker, expectedVersion: number): BreakerWrite {
    if (expectedVersion !== this.#version) return { kind: 'conflict', current: this.read() };
    // A permit tells of the attempt that it was given for, and of no later one.
    if (next.state !== this.#breaker.state) {
      this.#permitTakenAtUs = undefined;
      this.#permitTakenBy = undefined;
    }
    this.#breaker = next;
    this.#version++;
    return { kind: 'written', version: this.#version };
  }
}
