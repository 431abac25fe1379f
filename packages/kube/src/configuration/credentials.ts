import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { asError, ConfigurationError } from '../errors.ts';
import { loadKubeconfig, type KubeconfigSource } from './kubeconfig.ts';

/** TLS material. The object is the same one as long as its contents are: compare with `===`. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** Who we are for the API server at one moment. */
export interface Identity {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

/** A ServiceAccount token lives ten minutes at least and is rotated at 80 % of its life: a minute is early enough. */
const REREAD_MS = 60_000;
/** ExecAuth keeps a credential until it expires, so asking it often costs nothing. */
const REREAD_EXEC_MS = 10_000;
/** A server that rejects a good token must not make us read the disk, or run a plugin, for every request. */
const AFTER_REJECTION_MS = 100;
const AFTER_REJECTION_EXEC_MS = 5_000;
const PLUGIN_DEADLINE_MS = 30_000;

/**
 * Reads token, certificates and plugin output, and reads them again when they may have changed. Contents are
 * compared, not only modification times, because Secret volumes swap symbolic links.
 */
export class Credentials {
  readonly server: string;
  readonly namespace: string | undefined;
  readonly proxyUrl: string | undefined;
  private readonly now: () => number;
  private readonly usesPlugin: boolean;
  private kubeConfig: KubeConfig;
  private identity: Identity | undefined;
  private rejected = false;
  private readAtMs = Number.NEGATIVE_INFINITY;
  private reading: Promise<Identity> | undefined;

  /** Throws ConfigurationError. `now` is any clock in milliseconds. */
  constructor(source: KubeconfigSource | KubeConfig = {}, now: () => number = () => performance.now()) {
    this.kubeConfig = source instanceof KubeConfig ? source : loadKubeconfig(source);
    this.now = now;
    const cluster = this.kubeConfig.getCurrentCluster();
    if (cluster === null) {
      throw new ConfigurationError('the KubeConfig has no current cluster: set its current context');
    }
    this.server = cluster.server;
    this.proxyUrl = cluster.proxyUrl;
    this.namespace = this.kubeConfig.getContextObject(this.kubeConfig.getCurrentContext())?.namespace?.trim();
    this.usesPlugin = Boolean(this.kubeConfig.getCurrentUser()?.exec);
  }

  /** The identity to use now. Rejects with ConfigurationError only if there never was a usable one. */
  async current(): Promise<Identity> {
    const age = this.now() - this.readAtMs;
    if (this.identity !== undefined && age < this.maxAgeMs()) {
      return this.identity;
    }
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  /** After a 401 or a TLS failure with `identity`: the next `current()` reads again at once. */
  reject(identity: Identity): void {
    if (identity === this.identity) {
      this.rejected = true;
    }
  }

  private maxAgeMs(): number {
    if (this.rejected) {
      return this.usesPlugin ? AFTER_REJECTION_EXEC_MS : AFTER_REJECTION_MS;
    }
    return this.usesPlugin ? REREAD_EXEC_MS : REREAD_MS;
  }

  private async read(): Promise<Identity> {
    const options: RequestOptions = {};
    try {
      if (!this.usesPlugin || this.rejected) {
        this.kubeConfig = withoutCaches(this.kubeConfig);
      }
      await withDeadline(this.kubeConfig.applyToHTTPSOptions(options));
    } catch (thrown) {
      const cause = asError(thrown);
      if (this.identity === undefined) {
        throw new ConfigurationError(`cannot read the credentials for ${this.server}: ${cause.message}`, {
          cause,
        });
      }
      // Files that are being swapped: what we have may still be good, and a 401 tells if it is not.
      this.readAtMs = this.now();
      return this.identity;
    }
    const tls = tlsOf(options);
    const previous = this.identity;
    this.identity = {
      headers: headersOf(options),
      tls: previous !== undefined && sameTls(previous.tls, tls) ? previous.tls : tls,
    };
    this.rejected = false;
    this.readAtMs = this.now();
    return this.identity;
  }
}

/** A copy with fresh authenticators: those of client-node keep tokens for a minute or until they expire. */
function withoutCaches(config: KubeConfig): KubeConfig {
  const copy = new KubeConfig();
  copy.loadFromOptions({
    clusters: config.clusters,
    users: config.users,
    contexts: config.contexts,
    currentContext: config.currentContext,
  });
  return copy;
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    // Token files often end in a newline, which no header may contain.
    headers[name.toLowerCase()] = String(value).trim();
  }
  if (options.auth) {
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  return headers;
}

function tlsOf(options: RequestOptions): TlsMaterial {
  const ca = pem(options.ca);
  const cert = pem(options.cert);
  const key = pem(options.key);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(options.servername === undefined ? {} : { servername: options.servername }),
    ...(options.rejectUnauthorized === undefined ? {} : { rejectUnauthorized: options.rejectUnauthorized }),
  };
}

function pem(value: unknown): string | undefined {
  return Buffer.isBuffer(value) ? value.toString('utf8') : typeof value === 'string' ? value : undefined;
}

function sameTls(left: TlsMaterial, right: TlsMaterial): boolean {
  return (
    left.ca === right.ca &&
    left.cert === right.cert &&
    left.key === right.key &&
    left.servername === right.servername &&
    left.rejectUnauthorized === right.rejectUnauthorized
  );
}

async function withDeadline(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the credential plugin gave no answer within ${PLUGIN_DEADLINE_MS} ms`)),
      PLUGIN_DEADLINE_MS,
    );
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
