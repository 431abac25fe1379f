import type { Work } from './leadership.ts';

/** Begins with leading. Returns its way out. */
export type Duty = () => () => void | Promise<void>;

/** What only the leader does, from winning the Lease to the stop: the duties, in this order, and then the modules. */
export class Leading implements Work {
  readonly #duties: readonly Duty[];
  readonly #modules: Work;
  #leave: readonly (() => void | Promise<void>)[] = [];

  constructor(duties: readonly Duty[], modules: Work) {
    this.#duties = duties;
    this.#modules = modules;
  }

  start(): void {
    this.#leave = this.#duties.map((begin) => begin());
    this.#modules.start();
  }

  async stop(): Promise<void> {
    const left = this.#leave.map((leave) => leave());
    this.#leave = [];
    await Promise.all([...left, this.#modules.stop()]);
  }
}
