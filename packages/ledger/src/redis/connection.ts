import { Cluster, Redis } from 'ioredis';
import { LedgerUnavailable } from '../errors.ts';
import { Circuit } from './circuit.ts';
import {
  clientOptions,
  clusterOptions,
  defaultCommandTimeoutMs,
  type PasswordSource,
  password,
  type RedisSettings,
  reconnectMs,
} from './options.ts';
import { Patience } from './patience.ts';
import type { Script } from './script.ts';

export interface ConnectionEvents {
  /** First and each later time; `again` says that something may have been lost in between. */
  ready(again: boolean): void;
  failed(failure: LedgerUnavailable | undefined): void;
}

/** As quick as one piece for each turn where a webhook is at its limits, and in bursts of 500 it waits half as long. */
const CALLS_AT_ONCE = 4;

/** One connection (to a Cluster: one to each node) with a deadline on each call and the circuit before them. */
export class Connection {
  readonly #client: Redis | Cluster;
  readonly #circuit: Circuit;
  readonly #patience: Patience;
  #everReady = false;
  #closed = false;
  /** Calls that were not sent yet. */
  #gathered = 0;

  constructor(settings: RedisSettings, events: ConnectionEvents) {
    this.#circuit = new Circuit((failure) => events.failed(failure));
    this.#patience = new Patience({
      timeoutMs: settings.commandTimeoutMs ?? defaultCommandTimeoutMs,
      ordered: !('cluster' in settings),
    });
    const ready = (): void => {
      const again = this.#everReady;
      this.#everReady = true;
      this.#circuit.reset();
      events.ready(again);
    };
    if ('cluster' in settings) {
      const cluster = new Cluster([...settings.cluster.nodes], clusterOptions(settings));
      cluster.on('ready', ready);
      // A node that comes or goes may have been failed over; the Cluster as a whole stays ready.
      const nodes = (): void => {
        if (!this.#everReady || this.#closed) return;
        this.#circuit.reset();
        events.ready(true);
      };
      cluster.on('+node', nodes);
      cluster.on('-node', nodes);
      this.#client = cluster;
    } else {
      const options = clientOptions(settings);
      const client = 'url' in settings ? new Redis(settings.url, options) : new Redis(options);
      client.on('ready', ready);
      client.on('reconnecting', () => takePasswords(client, settings));
      client.on('end', () => this.#connectAgain(client, settings));
      this.#client = client;
    }
    this.#client.on('close', () => {
      if (!this.#closed)
        events.failed(new LedgerUnavailable('LEDGER_DISCONNECTED', 'The connection to Redis was lost.'));
    });
    // Each call that fails says so itself; without a listener ioredis writes to stderr.
    this.#client.on('error', () => undefined);
  }

  get isCluster(): boolean {
    return this.#client instanceof Cluster;
  }

  async run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const rest = [script.keys, ...keys, ...args];
    return await this.#guard(keys[0], async () => {
      try {
        return await this.#send('EVALSHA', [script.sha, ...rest]);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return await this.#send('EVAL', [script.text, ...rest]);
      }
    });
  }

  async command(name: string, args: readonly (string | number)[]): Promise<unknown> {
    return await this.#guard(args[0], async () => await this.#send(name, args));
  }

  close(): void {
    this.#closed = true;
    this.#patience.stop();
    this.#client.disconnect();
  }

  /**
   * ioredis gives up for good when it hears of a failover while it asks a Sentinel for the primary: it takes the news
   * for an order to close.
   */
  #connectAgain(client: Redis, settings: RedisSettings): void {
    setTimeout(() => {
      if (this.#closed) return;
      takePasswords(client, settings);
      client.connect().catch(() => undefined);
    }, reconnectMs).unref();
  }

  /**
   * What one turn of the event loop asks goes out a few calls at a time: far fewer system calls in a burst, and yet Redis
   * is at work on the first while the turn goes on, with a dozen TLS handshakes perhaps.
   */
  #send(name: string, args: readonly (string | number)[]): Promise<unknown> {
    const stream = this.#client instanceof Cluster ? undefined : this.#client.stream;
    if (stream === undefined) return this.#client.call(name, ...args);
    if (stream.writableCorked === 0) {
      stream.cork();
      this.#gathered = 0;
      setImmediate(() => stream.uncork());
    }
    const answer = this.#client.call(name, ...args);
    this.#gathered += 1;
    if (this.#gathered === CALLS_AT_ONCE) {
      stream.uncork();
      stream.cork();
      this.#gathered = 0;
    }
    return answer;
  }

  /** `key`: any of the call's, which all lie in one slot. */
  async #guard(key: string | number | undefined, call: () => Promise<unknown>): Promise<unknown> {
    if (this.#closed) throw new LedgerUnavailable('LEDGER_CLOSED', 'The ledger was closed. Make a new one.');
    const place = this.isCluster ? hashTagOf(String(key)) : '';
    return await this.#circuit.run(place, async () => {
      try {
        return await this.#patience.wait(call(), () => this.#circuit.answered(place));
      } catch (error) {
        throw error instanceof LedgerUnavailable ? error : unavailable(error);
      }
    });
  }
}

/** Of which node it is only the client of the Cluster knows; what shares a tag is on the same one. */
const hashTagOf = (key: string): string => /\{(.+?)\}/.exec(key)?.[1] ?? key;

/** For the next connection, as they are in their files by now. */
function takePasswords({ options }: Redis, settings: RedisSettings): void {
  if (settings.passwordFile !== undefined) options.password = readPassword(settings) ?? options.password;
  if ('sentinel' in settings && settings.sentinel.passwordFile !== undefined)
    options.sentinelPassword = readPassword(settings.sentinel) ?? options.sentinelPassword;
}

function readPassword(source: PasswordSource): string | undefined {
  try {
    return password(source);
  } catch {
    // The file is being replaced; what was read before may still do, and the next attempt reads again.
    return undefined;
  }
}

/** Server states that pass by themselves. */
const passing = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|OOM|MISCONF|NOREPLICAS|UNBLOCKED)\b/;

function unavailable(error: unknown): LedgerUnavailable {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && error.name === 'ReplyError') {
    const retryable = passing.test(message);
    const hint = retryable
      ? 'It passes by itself.'
      : 'Look at the user, its rights and the version of Redis (docs/redis.md).';
    return new LedgerUnavailable('LEDGER_REFUSED', `Redis refused: ${message}. ${hint}`, {
      cause: error,
      retryable,
    });
  }
  return new LedgerUnavailable('LEDGER_DISCONNECTED', `No connection to Redis: ${message}`, { cause: error });
}
