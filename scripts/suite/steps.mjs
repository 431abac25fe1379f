import { constants } from 'node:os';
import { rounded } from './record.mjs';

/** Steps one after another, until somebody wants an end; and what came of them. */
export class Steps {
  #passed = 0;
  #failed = 0;
  #end = new AbortController();
  #record;

  constructor(record) {
    this.#record = record;
  }

  /** Remembers the first signal: what runs is to end, and nothing more begins. */
  end(signal) {
    if (!this.#end.signal.aborted) this.#end.abort(signal);
  }

  /** For what a step starts: aborted by `end`. */
  get ending() {
    return this.#end.signal;
  }

  /** True if all of it went well, false if something failed or it was not begun. */
  async take(title, play) {
    if (this.ending.aborted) return false;
    console.log(`\n== ${title}`);
    const began = performance.now();
    const { passed, failed } = await play();
    this.#passed += passed;
    this.#failed += failed;
    this.#record.step(title, rounded((performance.now() - began) / 1000), { passed, failed });
    return failed === 0;
  }

  get summary() {
    return `${this.#passed} passed, ${this.#failed} failed`;
  }

  /** As a shell tells of a signal, even if nothing failed: not everything was tested. */
  get exitCode() {
    if (this.ending.aborted) return 128 + constants.signals[this.ending.reason];
    return this.#failed === 0 && this.#passed > 0 ? 0 : 1;
  }
}
