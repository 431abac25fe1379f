/** Work that is not urgent: the first list, resyncs. Everything normal goes first. */
export const LOW_PRIORITY = -100;
const NORMAL_PRIORITY = 0;

const FIRST_RETRY_MS = 5;
const LONGEST_RETRY_MS = 1_000_000;
/** setTimeout fires at once above this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** For workqueue_*: every key counts once, however often it is added. */
export interface QueueObserver {
  added?(): void;
  retried?(): void;
  depth?(ready: number): void;
  /** Handed to a worker, after so long in the queue. */
  started?(waitedMs: number): void;
  finished?(workedMs: number): void;
}

export interface AddOptions {
  readonly priority?: number;
  readonly afterMs?: number;
}

export interface QueueOptions {
  readonly observer?: QueueObserver;
  readonly now?: () => number;
}

interface Ready {
  readonly sinceMs: number;
}

interface Delayed {
  readonly dueMs: number;
  readonly timer: NodeJS.Timeout;
  readonly priority: number;
}

/**
 * Keys waiting for a worker. A key is in here once; added again while it is being worked on, it comes back
 * after that and never meets a second worker. Node's own timer heap serves as the heap of delays.
 */
export class WorkQueue {
  private readonly observer: QueueObserver;
  private readonly now: () => number;
  /** By priority; Maps because they keep the order of insertion and can drop from the middle. */
  private readonly ready = new Map<number, Map<string, Ready>>();
  private readonly priorityOf = new Map<string, number>();
  private readonly delayed = new Map<string, Delayed>();
  private readonly working = new Map<string, number>();
  /** Added while being worked on, with the priority for the next round. */
  private readonly again = new Map<string, number>();
  private readonly failures = new Map<string, number>();
  private readonly waiters: ((key: string | undefined) => void)[] = [];
  private readonly idle: (() => void)[] = [];
  private state: 'open' | 'draining' | 'closed' = 'open';

  constructor(options: QueueOptions = {}) {
    this.observer = options.observer ?? {};
    this.now = options.now ?? (() => performance.now());
  }

  /** Keys that a worker could take now. */
  get depth(): number {
    return this.priorityOf.size;
  }

  /** Sum and maximum of the time that keys have been with their workers, for the two gauges of that name. */
  get unfinishedMs(): { readonly total: number; readonly longest: number } {
    let total = 0;
    let longest = 0;
    for (const startedMs of this.working.values()) {
      const age = this.now() - startedMs;
      total += age;
      longest = Math.max(longest, age);
    }
    return { total, longest };
  }

  /** The higher priority and the earlier time win over what is already there. */
  add(key: string, options: AddOptions = {}): void {
    if (this.state !== 'open') {
      return;
    }
    const priority = options.priority ?? NORMAL_PRIORITY;
    if (options.afterMs !== undefined && options.afterMs > 0) {
      this.delay(key, options.afterMs, priority);
    } else {
      this.enqueue(key, Math.max(priority, this.cancelDelay(key) ?? priority));
    }
  }

  /** After a failure: 5 ms doubling to 1000 s, for this key, until `forget`. */
  addRateLimited(key: string, priority = NORMAL_PRIORITY): void {
    const failures = this.failures.get(key) ?? 0;
    this.failures.set(key, failures + 1);
    this.observer.retried?.();
    this.add(key, { priority, afterMs: Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS) });
  }

  forget(key: string): void {
    this.failures.delete(key);
  }

  /** The next key, or undefined once the queue is shut down. Every key taken must be given back by `done`. */
  take(): Promise<string | undefined> {
    const key = this.next();
    if (key !== undefined) {
      return Promise.resolve(this.start(key.key, key.sinceMs));
    }
    if (this.state !== 'open') {
      return Promise.resolve(undefined);
    }
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  done(key: string): void {
    const startedMs = this.working.get(key);
    if (startedMs === undefined) {
      return;
    }
    this.working.delete(key);
    this.observer.finished?.(this.now() - startedMs);
    const priority = this.again.get(key);
    this.again.delete(key);
    if (priority !== undefined && this.state !== 'closed') {
      this.enqueue(key, priority);
    }
    this.settle();
  }

  /**
   * Takes nothing new. With `drain` the keys that are ready are still handed out; without, none is. Resolves
   * when no worker holds a key.
   */
  shutdown(options: { readonly drain: boolean }): Promise<void> {
    this.state = options.drain ? 'draining' : 'closed';
    for (const { timer } of this.delayed.values()) {
      clearTimeout(timer);
    }
    this.delayed.clear();
    if (!options.drain) {
      this.ready.clear();
      this.priorityOf.clear();
      this.again.clear();
    }
    for (const waiter of this.waiters.splice(0)) {
      waiter(undefined);
    }
    return new Promise((resolve) => {
      this.idle.push(resolve);
      this.settle();
    });
  }

  private delay(key: string, afterMs: number, priority: number): void {
    if (this.priorityOf.has(key)) {
      // Ready already, which is sooner. The priority still counts.
      this.enqueue(key, priority);
      return;
    }
    const dueMs = this.now() + afterMs;
    const before = this.delayed.get(key);
    const highest = Math.max(priority, this.cancelDelay(key) ?? priority);
    const earliest = Math.min(dueMs, before?.dueMs ?? dueMs);
    const timer = setTimeout(
      () => {
        this.delayed.delete(key);
        this.enqueue(key, highest);
      },
      Math.min(Math.max(0, earliest - this.now()), LONGEST_TIMER_MS),
    );
    this.delayed.set(key, { dueMs: earliest, timer, priority: highest });
  }

  /** The priority of the delayed entry that was there. */
  private cancelDelay(key: string): number | undefined {
    const entry = this.delayed.get(key);
    clearTimeout(entry?.timer);
    this.delayed.delete(key);
    return entry?.priority;
  }

  private enqueue(key: string, priority: number): void {
    if (this.working.has(key)) {
      if (!this.again.has(key)) {
        this.observer.added?.();
      }
      this.again.set(key, Math.max(priority, this.again.get(key) ?? priority));
      return;
    }
    const present = this.priorityOf.get(key);
    if (present !== undefined && present >= priority) {
      return;
    }
    let entry: Ready = { sinceMs: this.now() };
    if (present === undefined) {
      this.observer.added?.();
    } else {
      const level = this.ready.get(present);
      entry = level?.get(key) ?? entry;
      level?.delete(key);
    }
    const level = this.ready.get(priority) ?? new Map<string, Ready>();
    this.ready.set(priority, level.set(key, entry));
    this.priorityOf.set(key, priority);
    this.observer.depth?.(this.depth);
    this.wake();
  }

  private wake(): void {
    const waiter = this.waiters.shift();
    if (waiter === undefined) {
      return;
    }
    const next = this.next();
    waiter(next === undefined ? undefined : this.start(next.key, next.sinceMs));
  }

  private next(): { readonly key: string; readonly sinceMs: number } | undefined {
    let best: number | undefined;
    for (const [priority, level] of this.ready) {
      if (level.size > 0 && (best === undefined || priority > best)) {
        best = priority;
      }
    }
    const level = best === undefined ? undefined : this.ready.get(best);
    for (const [key, entry] of level ?? []) {
      level?.delete(key);
      this.priorityOf.delete(key);
      return { key, sinceMs: entry.sinceMs };
    }
    return undefined;
  }

  private start(key: string, sinceMs: number): string {
    const nowMs = this.now();
    this.working.set(key, nowMs);
    this.observer.depth?.(this.depth);
    this.observer.started?.(nowMs - sinceMs);
    return key;
  }

  private settle(): void {
    if (this.state !== 'open' && this.working.size === 0 && this.depth === 0) {
      for (const resolve of this.idle.splice(0)) {
        resolve();
      }
    }
  }
}
