import { type SentinelConnectionOptions, SentinelConnector } from 'ioredis';

/** One that is gone without a word must not keep this process from asking the others. */
const answerMs = 1_000;

/**
 * Asks each Sentinel for the primary for so long and no longer. ioredis has one deadline for that and for listening to
 * them, where nobody catches what a late one throws: a Sentinel that falls silent would end the process.
 */
export class ImpatientSentinels extends SentinelConnector {
  #asking = 0;

  /** `options`: those of the client, as ioredis hands them to any connector. */
  constructor(options: unknown) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    super(options as SentinelConnectionOptions);
  }

  override async connect(
    ...args: Parameters<SentinelConnector['connect']>
  ): ReturnType<SentinelConnector['connect']> {
    this.#asking += 1;
    this.options.sentinelCommandTimeout = answerMs;
    try {
      const stream = await super.connect(...args);
      // ioredis begins to listen when the primary answers, even if it was told to end meanwhile, and would never stop.
      const endAgain = (): void => {
        if (!this.connecting) super.disconnect();
      };
      stream.once('connect', endAgain).once('secureConnect', endAgain);
      return stream;
    } finally {
      this.#asking -= 1;
      // Whoever listens does so from when the primary is connected. An earlier attempt may end after the next began.
      if (this.#asking === 0) this.options.sentinelCommandTimeout = undefined;
    }
  }
}
