import type { ResizablePod } from '@spotalis/core';

/** What a watch shows of the pods whose resize is under way. */
export class Sightings {
  readonly #waiting = new Map<string, (seen: ResizablePod | 'gone') => void>();

  /** Returns whether somebody waited for it. */
  saw(uid: string, seen: () => ResizablePod | 'gone'): boolean {
    const waiting = this.#waiting.get(uid);
    waiting?.(seen());
    return waiting !== undefined;
  }

  /** The pod's next sight; undefined when it did not change in that time, or the signal was aborted. */
  async next(uid: string, ms: number, signal: AbortSignal): Promise<ResizablePod | 'gone' | undefined> {
    if (signal.aborted) return undefined;
    return new Promise((resolve) => {
      const end = (seen?: ResizablePod | 'gone'): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#waiting.delete(uid);
        resolve(seen);
      };
      const onAbort = (): void => end();
      const timer = setTimeout(() => end(), Math.max(1, Math.ceil(ms))).unref();
      signal.addEventListener('abort', onAbort);
      this.#waiting.set(uid, end);
    });
  }
}
