/** The person at the keyboard has seen enough. */
export class Interrupted extends Error {}

/** What has to be taken back, in the order in which it was put there. */
export class Leave {
  readonly #steps: (() => Promise<void>)[] = [];

  /** To be undone at the end, before all that was there earlier. */
  later(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  async undo(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) await step();
  }
}

/**
 * Ends `work` at the first Ctrl-C, SIGTERM or SIGHUP, wherever it is, and undoes what it had done until then.
 * Processes it was just starting are ended by their watchdog when this process ends.
 */
export async function untilInterrupted(work: (leave: Leave) => Promise<void>): Promise<void> {
  const leave = new Leave();
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        process.stdout.write('Ending ...\n');
        reject(new Interrupted());
      });
    }
    // Whoever read along has gone, as with `| head`: there is nobody left to show anything to.
    process.stdout.on('error', () => reject(new Interrupted()));
  });
  try {
    await Promise.race([work(leave), interrupted]);
  } finally {
    await leave.undo();
  }
}
