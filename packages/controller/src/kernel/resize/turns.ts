import { type Paced, ResizePace } from '@spotalis/core';

interface Waiting extends Paced {
  readonly go: () => void;
}

/** Lets patches go at the one pace. */
export class Turns {
  readonly #pace = new ResizePace<Waiting>();
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Resolves when it is the patch's turn, or when the signal is aborted. */
  async take({ module, purpose }: Paced, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const waiting: Waiting = { module, purpose, go: end };
      const pace = this.#pace;
      function end(): void {
        pace.remove(waiting);
        signal.removeEventListener('abort', end);
        resolve();
      }
      signal.addEventListener('abort', end);
      pace.add(waiting);
      this.#go();
    });
  }

  #go(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (let next = this.#pace.next(this.#now()); next !== undefined; next = this.#pace.next(this.#now())) {
      if ('atMs' in next) {
        const waitMs = Math.max(1, Math.ceil(next.atMs - this.#now()));
        this.#timer = setTimeout(() => this.#go(), waitMs).unref();
        return;
      }
      next.item.go();
    }
  }
}
