import { type SentinelConnectionOptions, SentinelConnector } from 'ioredis';

/** One that is gone without a word must not keep this process from asking the others. */
const answerMs = 1_000;

/**
 * Asks each Sentinel for the primary for so long and no longer. ioredis has one deadline for that and for listening to
 * them, where nobody catches what a late one throws: a Sentinel that falls silent would end the process.
 */
export class ImpatientSentinels extends SentinelConnector {
  /** `options`: those of the client, as ioredis hands them to any connector. */
  constructor(options: unknown) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    super(options as SentinelConnectionOptions);
  }

  override async connect(
    ...args: Parameters<SentinelConnector['connect']>
  ): ReturnType<SentinelConnector['connect']> {
    this.options.sentinelCommandTimeout = answerMs;
    try {
      return await super.connect(...args);
    } finally {
      // Whoever listens does so from when the primary is connected.
      this.options.sentinelCommandTimeout = undefined;
    }
  }
}
