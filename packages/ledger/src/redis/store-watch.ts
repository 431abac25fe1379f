import { poolOpenMs, storeWatchMs } from '../timing.ts';
import { array, text } from './reply.ts';

/** What `readStore` answers, once a second. */
interface StoreView {
  readonly nowUs: number;
  readonly epoch: string;
  readonly openPools: ReadonlySet<string>;
}

function storeView(reply: unknown): StoreView {
  const [nowUs, epoch, ...pools] = array(reply);
  return { nowUs: Number(nowUs), epoch: text(epoch), openPools: new Set(pools.map(text)) };
}

/** Looks at the store in an interval, and at once when asked to; never twice at a time. */
export class StoreWatch {
  readonly #read: () => Promise<unknown>;
  readonly #changed: (view: StoreView, epochIsNew: boolean) => void;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #seenAtMs = Number.NEGATIVE_INFINITY;
  #view: StoreView | undefined;
  #reading = false;

  constructor(
    read: () => Promise<unknown>,
    changed: (view: StoreView, epochIsNew: boolean) => void,
    now: () => number,
  ) {
    this.#read = read;
    this.#changed = changed;
    this.#now = now;
    this.#timer = setInterval(() => void this.look(), storeWatchMs).unref();
  }

  poolOpen(pool: string): boolean {
    return this.#now() - this.#seenAtMs < poolOpenMs && (this.#view?.openPools.has(pool) ?? false);
  }

  async look(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      const view = storeView(await this.#read());
      this.#seenAtMs = this.#now();
      const before = this.#view;
      this.#view = view;
      this.#changed(view, before !== undefined && before.epoch !== view.epoch);
    } catch {
      // The failure has been counted where it happened, and the next look comes by itself.
    } finally {
      this.#reading = false;
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
