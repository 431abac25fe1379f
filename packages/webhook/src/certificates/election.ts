import { LeaderElector, type ElectorOptions } from '@spotalis/kube';

/** Stands for election again after it lost the Lease: its work can wait, so a restart is not worth it. */
export class StandingElection {
  readonly #options: ElectorOptions;
  #elector: LeaderElector;
  #stopped = false;

  constructor(options: ElectorOptions) {
    this.#options = options;
    this.#elector = this.#candidate();
  }

  readonly mayWrite = (): boolean => this.#elector.mayWrite();

  start(): void {
    this.#elector.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#elector.stop();
  }

  #candidate(): LeaderElector {
    return new LeaderElector({
      ...this.#options,
      onLost: () => {
        this.#options.onLost?.();
        if (this.#stopped) return;
        this.#elector = this.#candidate();
        this.#elector.start();
      },
    });
  }
}
