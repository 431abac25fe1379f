import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { ApiError, type ApiClient, asError } from '@spotalis/kube';
import {
  type Authority,
  authorityOf,
  CertificateHolder,
  type CertificateSource,
  type Component,
  issueServing,
  type KeyPair,
  type Logger,
  readCertificate,
  type ServingCertificate,
  type StartContext,
} from '@spotalis/runtime';
import { StandingElection } from './election.ts';
import { type RegisteredBundle, Registration } from './registration.ts';
import { type Look, nextStep, shouldServe, type Step, type StoredLeaf, type Terms } from './rotation.ts';
import { CertificateSecret, type SecretReference, type StoredCertificate } from './secret.ts';

const HOUR_MS = 3_600_000;
/** Informers of several API servers see a change within seconds; one whose watch broke needs longer. */
const LONGEST_SETTLE_MS = 30_000;
const LONGEST_LEASE_MS = 60_000;
/** Between looks while there is nothing to serve. */
const HURRY_MS = 250;
const CALL_DEADLINE_MS = 5_000;
/** A start waits for an API server that is away; a restart would only add a back-off to that. */
const START_DEADLINE_MS = 24 * HOUR_MS;
/** From an empty Secret to one that is complete takes three steps; rivals may undo some. */
const MOST_STEPS = 8;
/** No replica loses this many races in a row: the write must be refused for another reason. */
const MOST_LOST = 5;

export interface SharedCertificateOptions {
  readonly client: ApiClient;
  /** The Lease has the same name. */
  readonly secret: SecretReference;
  /** The MutatingWebhookConfiguration. */
  readonly configurationName: string;
  /** DNS names and addresses that the API server may call us by. */
  readonly names: readonly string[];
  readonly lifetimeMs: number;
  readonly checkPeriodMs: number;
  readonly identity: string;
  readonly observer: CertificateObserver;
  readonly logger: Logger;
  readonly wallMs: () => number;
  readonly now: () => number;
}

export interface CertificateObserver {
  readonly loaded: (pair: KeyPair) => void;
  /** What the Secret holds cannot be served. */
  readonly rejected: () => void;
  readonly rotated: () => void;
  /** A check failed; it is tried again. */
  readonly failed: () => void;
}

interface StagedCertificate extends ServingCertificate {
  readonly leaf: StoredLeaf;
  readonly trustedSinceMs: number | undefined;
}

interface Found {
  readonly secret: StoredCertificate;
  readonly bundle: RegisteredBundle | undefined;
}

/**
 * The certificate that all replicas share by a Secret. Every replica serves what is there; the one that holds the
 * Lease makes it, renews it, and keeps the registration such that the API server can verify it.
 */
export class SharedCertificate implements CertificateSource, Component {
  readonly name = 'certificate';
  readonly startDeadlineMs = START_DEADLINE_MS;
  readonly #options: SharedCertificateOptions;
  readonly #terms: Terms;
  readonly #secret: CertificateSecret;
  readonly #registration: Registration;
  readonly #election: StandingElection;
  readonly #holder = new CertificateHolder();
  readonly #stopping = new AbortController();
  #staged: StagedCertificate | undefined;
  #wake: () => void = () => undefined;
  #trouble = '';
  #problem = '';
  #lost = 0;
  #running: Promise<void> | undefined;

  constructor(options: SharedCertificateOptions) {
    this.#options = options;
    const { client, secret, configurationName, identity, lifetimeMs, logger } = options;
    this.#terms = {
      settleMs: Math.min(LONGEST_SETTLE_MS, lifetimeMs / 10),
      skewMs: Math.min(HOUR_MS, lifetimeMs),
    };
    this.#secret = new CertificateSecret(client, secret, CALL_DEADLINE_MS);
    this.#registration = new Registration(client, configurationName, CALL_DEADLINE_MS);
    const leaseDurationMs = Math.min(LONGEST_LEASE_MS, lifetimeMs / 4);
    this.#election = new StandingElection({
      client,
      ...secret,
      identity,
      timing: {
        leaseDurationMs,
        renewDeadlineMs: (leaseDurationMs * 2) / 3,
        retryPeriodMs: leaseDurationMs / 6,
      },
      onAcquired: () => this.#wake(),
      onError: (error) => logger.warn('the Lease of the certificate was not taken or renewed', { error }),
    });
  }

  current(): KeyPair | undefined {
    return this.#holder.current();
  }

  subscribe(listener: (pair: KeyPair) => void): () => void {
    return this.#holder.subscribe(listener);
  }

  /** Resolves with the first certificate. */
  async start({ signal }: StartContext): Promise<void> {
    this.#election.start();
    const first = new Promise<void>((resolve) => {
      const unsubscribe = this.#holder.subscribe(() => {
        unsubscribe();
        resolve();
      });
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#running = this.#run();
    await first;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#running;
    await this.#election.stop();
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) await this.#pause(await this.#turn());
  }

  /** Checks, takes the steps that are due, and returns the time until the next check. */
  async #turn(): Promise<number> {
    const { checkPeriodMs, observer, logger } = this.#options;
    const periodMs = this.current() === undefined ? HURRY_MS : checkPeriodMs;
    try {
      const restMs = await this.#advance();
      this.#trouble = '';
      this.#lost = 0;
      return Math.min(restMs, periodMs);
    } catch (thrown) {
      const error = asError(thrown);
      if (isRivalry(error) && ++this.#lost < MOST_LOST) return HURRY_MS;
      observer.failed();
      if (error.message !== this.#trouble) {
        logger.error('the certificate cannot be looked after; trying again', { error });
      }
      this.#trouble = error.message;
      return periodMs;
    }
  }

  async #advance(): Promise<number> {
    for (let steps = 0; steps < MOST_STEPS && !this.#stopping.signal.aborted; steps++) {
      const found = await this.#find();
      const look = this.#lookAt(found);
      if (shouldServe(look)) this.#serve(found.secret);
      if (!this.#election.mayWrite()) return Number.POSITIVE_INFINITY;
      const step = nextStep(look, this.#terms, this.#options.wallMs());
      if (step.kind === 'wait') return step.forMs;
      await this.#carryOut(step, found);
    }
    return HURRY_MS;
  }

  async #find(): Promise<Found> {
    const [secret, bundle] = await Promise.all([this.#secret.read(), this.#registration.read()]);
    this.#reportProblem(secret);
    return { secret, bundle };
  }

  /** Once per problem, however long it lasts. */
  #reportProblem({ problem }: StoredCertificate): void {
    if (problem !== undefined && problem.message !== this.#problem) {
      this.#options.observer.rejected();
      this.#options.logger.error('the Secret holds no certificate that can be served', { error: problem });
    }
    this.#problem = problem?.message ?? '';
  }

  #lookAt({ secret, bundle }: Found): Look<Authority> {
    this.#staged &&= { ...this.#staged, trustedSinceMs: this.#trustedSince(this.#staged, bundle) };
    const { authorities, pair } = secret;
    const leaf = pair && this.#leafOf(pair, [...authorities, ...(bundle?.authorities ?? [])]);
    const staged = this.#staged;
    return {
      leaf,
      authorities,
      registered: bundle?.authorities,
      serving: this.current() !== undefined,
      staged: staged && {
        authority: staged.authority,
        leaf: staged.leaf,
        trustedForMs:
          staged.trustedSinceMs === undefined ? undefined : this.#options.now() - staged.trustedSinceMs,
      },
    };
  }

  #trustedSince(
    { authority, trustedSinceMs }: StagedCertificate,
    bundle: RegisteredBundle | undefined,
  ): number | undefined {
    const trusted = bundle?.authorities.some(({ fingerprint }) => fingerprint === authority.fingerprint);
    return trusted === true ? (trustedSinceMs ?? this.#options.now()) : undefined;
  }

  #leafOf({ cert }: KeyPair, authorities: readonly Authority[]): StoredLeaf {
    const { notBeforeMs, notAfterMs } = readCertificate(cert);
    const x509 = new X509Certificate(cert);
    const fits = this.#options.names.every(
      (name) => (isIP(name) === 0 ? x509.checkHost(name) : x509.checkIP(name)) !== undefined,
    );
    return { authority: authorityOf(cert, authorities)?.fingerprint, notBeforeMs, notAfterMs, fits };
  }

  #serve({ pair }: StoredCertificate): void {
    if (pair === undefined || pair.cert === this.current()?.cert) return;
    this.#holder.set(pair);
    this.#options.observer.loaded(pair);
    const { fingerprint, notAfterMs } = readCertificate(pair.cert);
    this.#options.logger.info('certificate in use', {
      fingerprint,
      ends: new Date(notAfterMs).toISOString(),
    });
  }

  async #carryOut(
    step: Exclude<Step<Authority>, { kind: 'wait' }>,
    { secret, bundle }: Found,
  ): Promise<void> {
    const { mayWrite } = this.#election;
    const { observer, logger } = this.#options;
    switch (step.kind) {
      case 'discard':
        this.#staged = undefined;
        return;
      case 'issue':
        this.#staged = await this.#issue();
        return;
      case 'store':
        await this.#secret.write(secret.resourceVersion, step, mayWrite);
        return;
      case 'register':
        if (bundle !== undefined) await this.#registration.write(bundle, step.authorities, mayWrite);
        logger.info('authorities registered', { count: step.authorities.length });
        return;
      case 'promote':
        if (this.#staged === undefined) return;
        await this.#secret.write(
          secret.resourceVersion,
          { authorities: step.authorities, pair: this.#staged.pair },
          mayWrite,
        );
        this.#staged = undefined;
        observer.rotated();
    }
  }

  async #issue(): Promise<StagedCertificate> {
    const { names, lifetimeMs, wallMs } = this.#options;
    const nowMs = wallMs();
    // A clock that is behind must accept it, too.
    const validity = { notBeforeMs: nowMs - this.#terms.skewMs, notAfterMs: nowMs + lifetimeMs };
    const { pair, authority } = await issueServing(names, validity);
    const leaf = this.#leafOf(pair, [authority]);
    return { pair, authority, leaf, trustedSinceMs: undefined };
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#stopping.signal.aborted) this.#wake();
    });
  }
}

/** Another replica, or a person, was faster: the decision must be made again from what is there now. */
function isRivalry(error: Error): boolean {
  return error instanceof ApiError && (error.status === 409 || error.status === 422);
}
