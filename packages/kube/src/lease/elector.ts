import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, asError, LeaseMissingError } from '../errors.ts';
import type { ApiClient } from '../transport/client.ts';
import type { HotCallOptions } from '../transport/transport.ts';
import { Instant, type LeaseClock, systemClock } from './clock.ts';
import { type Lease, type LeaseSpec, leases, microTime, wholeSeconds } from './record.ts';

export interface LeaseTiming {
  /** A lease that has not changed for this long may be taken. */
  readonly leaseDurationMs: number;
  /** A holder that has not renewed for this long stops. Below the duration, by more than clocks can drift. */
  readonly renewDeadlineMs: number;
  /** Between renewals. Candidates look twice as often, so that a released lease is taken within this time. */
  readonly retryPeriodMs: number;
}

/** client-go's. */
const TIMING: LeaseTiming = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

export interface ElectorOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly name: string;
  /** Unique per process: the pod's name and something random. */
  readonly identity: string;
  readonly timing?: LeaseTiming;
  readonly clock?: LeaseClock;
  readonly random?: () => number;
  readonly onAcquired?: () => void;
  /** Held and lost, without having been released by `stop`. The elector is finished; exit. */
  readonly onLost?: () => void;
  /** Someone else, or nobody, or we, hold it now. */
  readonly onHolder?: (identity: string) => void;
  readonly onError?: (error: Error) => void;
}

/**
 * Leader election as client-go has it. Expiry is measured by the local clock since the last *observed change*:
 * the times inside the Lease are for people, since clocks of two machines cannot be compared.
 */
export class LeaderElector {
  private readonly options: ElectorOptions;
  private readonly timing: LeaseTiming;
  private readonly clock: LeaseClock;
  private readonly random: () => number;
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private observed: { readonly lease: Lease; readonly at: Instant } | undefined;
  /** When the request of our last successful renewal was *begun*, which is before anyone can have seen it. */
  private renewed: Instant | undefined;

  constructor(options: ElectorOptions) {
    this.options = options;
    this.timing = options.timing ?? TIMING;
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    if (
      this.timing.leaseDurationMs <= this.timing.renewDeadlineMs ||
      this.timing.renewDeadlineMs <= this.timing.retryPeriodMs * 1.2
    ) {
      throw new RangeError(
        'lease timing must satisfy leaseDuration > renewDeadline > 1.2 x retryPeriod, for example 15 s, 10 s, 2 s',
      );
    }
  }

  /** True while a write may begin. Ask right before each one, and give it to the transport as `fence`. */
  readonly mayWrite = (): boolean =>
    !this.stopping.signal.aborted &&
    this.renewed !== undefined &&
    this.renewed.atMostAgoMs() < this.timing.renewDeadlineMs;

  /** The last holder seen; empty when nobody holds it. */
  get holder(): string {
    return this.observed?.lease.spec?.holderIdentity ?? '';
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Clean stop: nothing may be written from here on, and the lease is given up so that a successor need not wait. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    if (await this.acquire()) {
      this.options.onAcquired?.();
      await this.hold();
      const lost = !this.stopping.signal.aborted;
      this.renewed = undefined;
      if (lost) {
        this.options.onLost?.();
      } else {
        await this.release();
      }
    }
  }

  /** Returns true once the lease is ours, false when stopped before. */
  private async acquire(): Promise<boolean> {
    while (!this.stopping.signal.aborted) {
      if (await this.attempt()) {
        return true;
      }
      await this.pause((this.timing.retryPeriodMs / 2) * (1 + this.random() * 0.2));
    }
    return false;
  }

  /** Renews until the deadline passes, someone else has the lease, or we are stopped. */
  private async hold(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await this.pause(this.timing.retryPeriodMs);
      if (this.stopping.signal.aborted) {
        return;
      }
      const renewed = this.mayWrite() && (await this.attempt());
      if (!renewed && (!this.mayWrite() || this.holder !== this.options.identity)) {
        return;
      }
    }
  }

  /** One try to take or renew. False for any reason; the reason goes to `onError` unless it is just a rival. */
  private async attempt(): Promise<boolean> {
    const began = new Instant(this.clock);
    try {
      const written = await this.write();
      if (written === undefined) {
        return false;
      }
      this.observe(written);
      this.renewed = began;
      return true;
    } catch (thrown) {
      const error = asError(thrown);
      if (!this.stopping.signal.aborted && !isRivalry(error)) {
        this.options.onError?.(error);
      }
      return false;
    }
  }

  private async write(): Promise<Lease | undefined> {
    const { identity } = this.options;
    const current = await this.read();
    const timeIs = microTime(this.clock.wallMs());
    if (current === undefined) return this.create(this.spec(undefined, timeIs));
    this.observe(current);
    const holder = current.spec?.holderIdentity ?? '';
    if (holder !== '' && holder !== identity && !this.isExpired(current)) {
      return undefined;
    }
    return this.patch(current, this.spec(current, timeIs));
  }

  private async read(): Promise<Lease | undefined> {
    const { client, namespace, name } = this.options;
    try {
      return await client.get(leases, { namespace, name }, this.call());
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.status === 404) {
        return undefined;
      }
      throw thrown;
    }
  }

  /** Where an installer makes the Lease, nobody else may. */
  private async create(spec: LeaseSpec): Promise<Lease> {
    const { client, namespace, name } = this.options;
    try {
      return await client.create(
        leases,
        { namespace },
        { metadata: { name, namespace }, spec },
        {},
        this.call(),
      );
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.status === 403) {
        throw new LeaseMissingError(`${namespace}/${name}`, thrown);
      }
      throw thrown;
    }
  }

  private spec(current: Lease | undefined, timeIs: string): LeaseSpec {
    const mine = current?.spec?.holderIdentity === this.options.identity;
    const transitions = current?.spec?.leaseTransitions ?? 0;
    return {
      holderIdentity: this.options.identity,
      leaseDurationSeconds: wholeSeconds(this.timing.leaseDurationMs),
      renewTime: timeIs,
      ...(mine ? {} : { acquireTime: timeIs, leaseTransitions: wasHeld(current) ? transitions + 1 : 0 }),
    };
  }

  /** Fields of the Lease that we do not know stay; the version makes the slower of two writers fail. */
  private patch(current: Lease, spec: LeaseSpec): Promise<Lease> {
    const { client, namespace, name } = this.options;
    const patch = { metadata: { resourceVersion: current.metadata.resourceVersion }, spec };
    return client.mergePatch(leases, { namespace, name }, patch, {}, this.call());
  }

  private observe(lease: Lease): void {
    const before = this.observed?.lease;
    if (before?.metadata.resourceVersion === lease.metadata.resourceVersion) {
      return;
    }
    this.observed = { lease, at: new Instant(this.clock) };
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder !== (before?.spec?.holderIdentity ?? '')) {
      this.options.onHolder?.(holder);
    }
  }

  /** By the longer of the holder's own duration and ours: a holder with other settings is not robbed. */
  private isExpired(lease: Lease): boolean {
    const theirsMs = (lease.spec?.leaseDurationSeconds ?? 0) * 1000;
    const oursMs = this.timing.leaseDurationMs;
    const limitMs = theirsMs === wholeSeconds(oursMs) * 1000 ? oursMs : Math.max(theirsMs, oursMs);
    return this.observed !== undefined && this.observed.at.agoMs() >= limitMs;
  }

  private async release(): Promise<void> {
    const lease = this.observed?.lease;
    if (lease === undefined || this.holder !== this.options.identity) {
      return;
    }
    try {
      const spec = { holderIdentity: '', renewTime: microTime(this.clock.wallMs()) };
      this.observe(await this.patch(lease, spec));
    } catch (thrown) {
      // It expires by itself.
      this.options.onError?.(asError(thrown));
    }
  }

  private call(): HotCallOptions & { readonly once: true } {
    return { once: true, deadlineMs: this.timing.renewDeadlineMs / 2 };
  }

  private async pause(ms: number): Promise<void> {
    try {
      await delay(ms, undefined, { signal: this.stopping.signal });
    } catch {
      // Stopped: the loops see it.
    }
  }
}

/** Installers may make an empty Lease, of which nobody was the holder before the first. */
function wasHeld(lease: Lease | undefined): boolean {
  const { holderIdentity = '', acquireTime, renewTime, leaseTransitions } = lease?.spec ?? {};
  return (
    holderIdentity !== '' ||
    acquireTime !== undefined ||
    renewTime !== undefined ||
    leaseTransitions !== undefined
  );
}

/** Another candidate was faster. */
function isRivalry(error: Error): boolean {
  return error instanceof ApiError && error.status === 409;
}
