/**
 * The two clocks of an elector. `monotonicMs` must go on while the process is stopped: CLOCK_MONOTONIC behind
 * `performance.now()` does, for SIGSTOP and for a frozen cgroup. It does not while the machine is suspended, so
 * the wall clock is asked as well and the longer of the two counts.
 */
export interface LeaseClock {
  readonly monotonicMs: () => number;
  readonly wallMs: () => number;
}

export const systemClock: LeaseClock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
};

/** A moment on both clocks. */
export class Instant {
  private readonly clock: LeaseClock;
  private readonly monotonicMs: number;
  private readonly wallMs: number;

  constructor(clock: LeaseClock) {
    this.clock = clock;
    this.monotonicMs = clock.monotonicMs();
    this.wallMs = clock.wallMs();
  }

  /** Since then, by the monotonic clock: what others measure us by. */
  agoMs(): number {
    return this.clock.monotonicMs() - this.monotonicMs;
  }

  /** Since then, by the clock that says longer: errs on the side of not writing. */
  atMostAgoMs(): number {
    return Math.max(this.agoMs(), this.clock.wallMs() - this.wallMs);
  }
}
