import { type ApiClient, LeaderElector, type LeaseTiming } from '@spotalis/kube';
import type { Component, Logger, StartContext } from '@spotalis/runtime';

/** Thrown when the Lease could not be renewed in time. A restart makes this replica a standby. */
class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
  readonly code = 'LEASE_LOST';
}

export interface LeadershipParts {
  /** False: this replica is the only one, and leads without a Lease. */
  readonly enabled: boolean;
  readonly client: ApiClient;
  readonly namespace: string;
  readonly leaseName: string;
  readonly identity: string;
  readonly timing: LeaseTiming;
  readonly onChange: (isLeader: boolean) => void;
  readonly logger: Logger;
}

/** The work of a leader; runs from winning the Lease until the stop. */
export interface Work {
  start(): void;
  stop(): Promise<void>;
}

/** Takes part in the election, and does the leader's work while it leads. */
export class Leadership implements Component {
  readonly name = 'leadership';
  readonly #parts: LeadershipParts;
  #elector: LeaderElector | undefined;
  #isLeader = false;
  #working = false;
  #isStopping = false;
  #work: Work | undefined;

  constructor(parts: LeadershipParts) {
    this.#parts = parts;
  }

  get isLeader(): boolean {
    return this.#isLeader;
  }

  /** Whether a write may begin. Ask right before each one, and give it to the transport as `fence`. */
  readonly mayWrite = (): boolean =>
    this.#working && (this.#parts.enabled ? (this.#elector?.mayWrite() ?? false) : this.#isLeader);

  /** To be said before the start. */
  does(work: Work): void {
    this.#work = work;
  }

  /** Who holds the Lease as far as this replica has seen. */
  get holder(): string {
    return this.#elector?.holder ?? (this.#isLeader ? this.#parts.identity : '');
  }

  start(context: StartContext): void {
    const { enabled, client, namespace, leaseName, identity, timing, logger } = this.#parts;
    if (!enabled) {
      this.#lead();
      return;
    }
    this.#elector = new LeaderElector({
      client,
      namespace,
      name: leaseName,
      identity,
      timing,
      onAcquired: () => this.#lead(),
      onLost: () => {
        this.#follow();
        context.fail(
          new LeaseLostError(
            `the Lease ${namespace}/${leaseName} was not renewed in time; restarting as a standby`,
          ),
        );
      },
      onHolder: (holder) => logger.info('leader', { lease: `${namespace}/${leaseName}`, holder }),
      onError: (error) => logger.warn('lease not taken or renewed; trying again', { error }),
    });
    this.#elector.start();
  }

  /** Ends the work. The Lease is kept, so that nobody else begins while this replica still stops. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#working) await this.#work?.stop();
    this.#working = false;
  }

  /** The very last: gives the Lease up, so that the next leader need not wait for it to expire. */
  async release(): Promise<void> {
    await this.#elector?.stop();
    this.#follow();
  }

  #lead(): void {
    // The stores stop already. The Lease that was won meanwhile is given up with the others.
    if (this.#isStopping) return;
    this.#isLeader = true;
    this.#working = true;
    this.#parts.logger.info('leading', { identity: this.#parts.identity });
    this.#parts.onChange(true);
    this.#work?.start();
  }

  #follow(): void {
    if (!this.#isLeader) return;
    this.#isLeader = false;
    this.#parts.onChange(false);
  }
}
