import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { reasonOf } from './reason.ts';

/** The content of a file, or why there is none. */
export type FileState = { readonly text: string } | { readonly missing: string };

export interface FileWatchOptions {
  readonly paths: readonly string[];
  /** The net under the notifications, which network and overlay file systems do not always send. */
  readonly pollMs: number;
  /**
   * Called, never twice at a time, whenever the content of any of the files has changed. What it throws becomes a
   * warning of the process.
   */
  readonly changed: (states: ReadonlyMap<string, FileState>) => Promise<void> | void;
}

/** Files that change faster than they can be read are taken as they are; the next change corrects it. */
const mostReadings = 10;

/**
 * Follows the content of files through the way Kubernetes swaps mounted ConfigMaps and Secrets: the path stays,
 * the `..data` symlink beside it is replaced. So directories are watched, and content is compared, not times.
 */
export class FileWatch {
  readonly #options: FileWatchOptions;
  #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;
  #last = '';
  #turn: Promise<void> = Promise.resolve();
  #queued = false;
  #running = false;

  constructor(options: FileWatchOptions) {
    this.#options = options;
  }

  /** Reads the files once and calls `changed` only for what differs from then on. */
  async start(): Promise<ReadonlyMap<string, FileState>> {
    const states = await this.#read();
    this.#last = fingerprint(states);
    this.#running = true;
    this.#timer = setInterval(() => this.#look(), this.#options.pollMs);
    this.#timer.unref();
    for (const directory of new Set(this.#options.paths.map((path) => dirname(path))))
      this.#watchDirectory(directory);
    return states;
  }

  /** Returns once no call of `changed` is under way any more. */
  async stop(): Promise<void> {
    this.#running = false;
    clearInterval(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
    await this.#turn;
  }

  #watchDirectory(directory: string): void {
    try {
      const watcher = watch(directory, { persistent: false }, () => this.#look());
      // The directory itself may be replaced or inotify be exhausted; polling goes on.
      watcher.on('error', () => watcher.close());
      this.#watchers.push(watcher);
    } catch {
      // Not there yet: polling finds it.
    }
  }

  #look(): void {
    if (this.#queued || !this.#running) return;
    this.#queued = true;
    this.#turn = this.#compare(this.#turn);
  }

  async #compare(before: Promise<void>): Promise<void> {
    await before;
    this.#queued = false;
    if (!this.#running) return;
    const states = await this.#read();
    const now = fingerprint(states);
    if (now === this.#last) return;
    this.#last = now;
    try {
      await this.#options.changed(states);
    } catch (error) {
      // Nobody waits for this: as a rejection it would end the process over a file that the next change may mend.
      process.emitWarning(
        `${this.#options.paths.join(', ')}: a change was not taken over (${reasonOf(error)})`,
      );
    }
  }

  /** Read until two readings agree: a swap in between would give one file's old and another's new content. */
  async #read(): Promise<ReadonlyMap<string, FileState>> {
    let states = await this.#readOnce();
    for (let attempt = 1; attempt < mostReadings; attempt++) {
      const again = await this.#readOnce();
      if (fingerprint(again) === fingerprint(states)) break;
      states = again;
    }
    return states;
  }

  async #readOnce(): Promise<ReadonlyMap<string, FileState>> {
    return new Map(
      await Promise.all(this.#options.paths.map(async (path) => [path, await stateOf(path)] as const)),
    );
  }
}

async function stateOf(path: string): Promise<FileState> {
  try {
    return { text: await readFile(path, 'utf8') };
  } catch (error) {
    return { missing: reasonOf(error) };
  }
}

const fingerprint = (states: ReadonlyMap<string, FileState>): string => JSON.stringify([...states]);
