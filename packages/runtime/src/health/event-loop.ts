import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Component } from '../lifecycle/component.ts';

export interface EventLoopOptions {
  /** Over this median the process cannot do its work any more and a restart is the better end. */
  readonly maxLagMs?: number;
  /** The median is taken over one such stretch, so that a single long pause does not count as death. */
  readonly windowMs?: number;
  readonly delays?: Delays;
}

/** Samples, in nanoseconds, of how long after its time a timer fired. */
type Delays = Pick<
  ReturnType<typeof monitorEventLoopDelay>,
  'count' | 'percentile' | 'reset' | 'enable' | 'disable'
>;

const resolutionMs = 20;
const nanosecondsPerMs = 1e6;

/** Measures how late timers fire: the time a request waits before anything looks at it. */
export class EventLoop implements Component {
  readonly name = 'event-loop';
  readonly #maxLagMs: number;
  readonly #windowMs: number;
  readonly #delays: Delays;
  #timer: NodeJS.Timeout | undefined;
  #lagMs = 0;

  constructor(options: EventLoopOptions = {}) {
    this.#maxLagMs = options.maxLagMs ?? 1_000;
    this.#windowMs = options.windowMs ?? 10_000;
    this.#delays = options.delays ?? monitorEventLoopDelay({ resolution: resolutionMs });
  }

  /** Median lag of the last whole window. */
  get lagMs(): number {
    return this.#lagMs;
  }

  get alive(): boolean {
    return this.#lagMs <= this.#maxLagMs;
  }

  start(): void {
    this.#delays.enable();
    this.#timer = setInterval(() => {
      // Without a sample the loop stood still for all of it: the next one tells for how long.
      if (this.#delays.count === 0) return;
      const median = this.#delays.percentile(50) / nanosecondsPerMs;
      this.#lagMs = Math.max(0, Math.round(median - resolutionMs));
      this.#delays.reset();
    }, this.#windowMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#delays.disable();
  }
}
