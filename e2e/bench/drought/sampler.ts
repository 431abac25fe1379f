import { setTimeout as pause } from 'node:timers/promises';
import { isReady, type Workload } from '../../workloads/workload.ts';

const EVERY_MS = 200;

/** Looks again and again at how many pods of a workload are Ready. */
export class Sampler {
  readonly #workload: Workload;
  readonly #wanted: number;
  readonly #ended = new AbortController();
  readonly #running: Promise<void>;
  #fewest: number;
  #missingMs = 0;

  constructor(workload: Workload, wanted: number) {
    this.#workload = workload;
    this.#wanted = wanted;
    this.#fewest = wanted;
    this.#running = this.#run();
  }

  async stop(): Promise<{ readonly fewestReady: number; readonly missingReplicaSeconds: number }> {
    this.#ended.abort();
    await this.#running;
    return { fewestReady: this.#fewest, missingReplicaSeconds: this.#missingMs / 1000 };
  }

  async #run(): Promise<void> {
    let lookedAtMs = performance.now();
    while (!this.#ended.signal.aborted) {
      const ready = (await this.#workload.pods()).filter(isReady).length;
      const nowMs = performance.now();
      this.#fewest = Math.min(this.#fewest, ready);
      this.#missingMs += Math.max(0, this.#wanted - ready) * (nowMs - lookedAtMs);
      lookedAtMs = nowMs;
      await pause(EVERY_MS);
    }
  }
}
