import { join } from 'node:path';
import { type FileState, FileWatch } from '../files/watch.ts';
import type { Component } from '../lifecycle/component.ts';
import { CertificateError, checkKeyPair } from './inspect.ts';
import type { KeyPair } from './issue.ts';

/** Where a TLS server finds its certificate now, and hears of the next one. */
export interface CertificateSource {
  current(): KeyPair | undefined;
  /** Calls back at every change until the returned function is called. */
  subscribe(listener: (pair: KeyPair) => void): () => void;
}

/** A certificate held in memory. A pair that does not fit together is refused and the old one stays. */
export class CertificateHolder implements CertificateSource {
  readonly #listeners = new Set<(pair: KeyPair) => void>();
  #pair: KeyPair | undefined;

  current(): KeyPair | undefined {
    return this.#pair;
  }

  /** Throws a CertificateError when the pair cannot be served. */
  set(pair: KeyPair): void {
    checkKeyPair(pair);
    this.#pair = pair;
    for (const listener of this.#listeners) listener(pair);
  }

  subscribe(listener: (pair: KeyPair) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

export interface CertificateFilesOptions {
  /** Holds tls.crt and tls.key. */
  readonly directory: string;
  readonly loaded?: (pair: KeyPair) => void;
  /** The files changed into something that cannot be served; the old pair stays in use. */
  readonly rejected: (error: CertificateError) => void;
  readonly pollMs?: number;
}

/** Follows tls.crt and tls.key in a directory, as a mounted Secret of type kubernetes.io/tls provides them. */
export class CertificateFiles implements CertificateSource, Component {
  readonly name = 'certificate-files';
  readonly #options: CertificateFilesOptions;
  readonly #holder = new CertificateHolder();
  readonly #watch: FileWatch;
  readonly #certPath: string;
  readonly #keyPath: string;

  constructor(options: CertificateFilesOptions) {
    this.#options = options;
    this.#certPath = join(options.directory, 'tls.crt');
    this.#keyPath = join(options.directory, 'tls.key');
    this.#watch = new FileWatch({
      paths: [this.#certPath, this.#keyPath],
      pollMs: options.pollMs ?? 10_000,
      changed: (states) => this.#changed(states),
    });
  }

  current(): KeyPair | undefined {
    return this.#holder.current();
  }

  subscribe(listener: (pair: KeyPair) => void): () => void {
    return this.#holder.subscribe(listener);
  }

  /** Rejects with a CertificateError when there is nothing to begin with. */
  async start(): Promise<void> {
    const states = await this.#watch.start();
    try {
      this.#load(states);
    } catch (error) {
      await this.#watch.stop();
      throw error;
    }
  }

  stop(): Promise<void> {
    return this.#watch.stop();
  }

  #changed(states: ReadonlyMap<string, FileState>): void {
    try {
      this.#load(states);
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      this.#options.rejected(error);
    }
  }

  #load(states: ReadonlyMap<string, FileState>): void {
    const pair = { cert: content(states, this.#certPath), key: content(states, this.#keyPath) };
    this.#holder.set(pair);
    this.#options.loaded?.(pair);
  }
}

function content(states: ReadonlyMap<string, FileState>, path: string): string {
  const state = states.get(path);
  if (state !== undefined && 'text' in state) return state.text;
  const why = state?.missing ?? 'ENOENT';
  throw new CertificateError(
    'CERTIFICATE_UNREADABLE',
    `${path} cannot be read (${why}); mount a Secret with tls.crt and tls.key there`,
  );
}
