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
  readonly #timer: NodeJS.Timeout;
  #view: StoreView | undefined;
  #reading = false;

  constructor(
    read: () => Promise<unknown>,
    changed: (view: StoreView, epochIsNew: boolean) => void,
    intervalMs: number,
  ) {
    this.#read = read;
    this.#changed = changed;
    this.#timer = setInterval(() => void this.look(), intervalMs).unref();
  }

  poolOpen(pool: string): boolean {
    return this.#view?.openPools.has(pool) ?? false;
  }

  async look(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      const view = storeView(await this.#read());
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
