interface Waiting<Need, Result> {
  readonly needs: Need[];
  readonly result: Promise<Result>;
  readonly begin: () => void;
}

interface Queue<Need, Result> {
  waiting: Waiting<Need, Result> | undefined;
}

/**
 * Reads that callers share. Per key one call runs and one waits for it to end; a caller joins only the one that waits.
 * A call that runs may have its answer already, and a change between that answer and the caller's question is not in
 * it.
 */
export class FreshCalls<Need, Result> {
  readonly #call: (key: string, needs: readonly Need[]) => Promise<Result>;
  readonly #queues = new Map<string, Queue<Need, Result>>();

  /** `call` must end by itself: it has its own deadline. */
  constructor(call: (key: string, needs: readonly Need[]) => Promise<Result>) {
    this.#call = call;
  }

  ask(key: string, need: Need): Promise<Result> {
    const queue = this.#queues.get(key);
    if (queue === undefined) {
      const fresh: Queue<Need, Result> = { waiting: undefined };
      this.#queues.set(key, fresh);
      return this.#run(key, fresh, [need]);
    }
    queue.waiting ??= this.#enqueue(key, queue);
    queue.waiting.needs.push(need);
    return queue.waiting.result;
  }

  #enqueue(key: string, queue: Queue<Need, Result>): Waiting<Need, Result> {
    const needs: Need[] = [];
    const starts: (() => void)[] = [];
    const result = new Promise<void>((resolve) => {
      starts.push(resolve);
    }).then(() => this.#run(key, queue, needs));
    return { needs, result, begin: () => starts.forEach((start) => start()) };
  }

  async #run(key: string, queue: Queue<Need, Result>, needs: readonly Need[]): Promise<Result> {
    try {
      return await this.#call(key, needs);
    } finally {
      const next = queue.waiting;
      queue.waiting = undefined;
      if (next === undefined) {
        this.#queues.delete(key);
      } else {
        next.begin();
      }
    }
  }
}

/** Reads whose answer does not age while they run: every caller joins the one under way. */
export class SharedCalls<Result> {
  readonly #running = new Map<string, Promise<Result>>();

  ask(key: string, call: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(key);
    if (running !== undefined) {
      return running;
    }
    const started = call().finally(() => this.#running.delete(key));
    this.#running.set(key, started);
    return started;
  }
}
