import type { AddOptions, ReconcileResult } from '@spotalis/kube';

/** A queue that a test empties by hand, with its own clock. */
export class FakeQueue {
  readonly added: { readonly key: string; readonly options: AddOptions }[] = [];
  readonly #due = new Map<string, number>();
  nowMs = 0;

  add(key: string, options: AddOptions = {}): void {
    this.added.push({ key, options });
    const dueMs = this.nowMs + (options.afterMs ?? 0);
    this.#due.set(key, Math.min(dueMs, this.#due.get(key) ?? dueMs));
  }

  /** Milliseconds from now at which each waiting key is due. */
  waiting(): ReadonlyMap<string, number> {
    return new Map([...this.#due].map(([key, dueMs]) => [key, dueMs - this.nowMs]));
  }

  /** Lets the time pass and works on everything that falls due in it. Returns how often a key was worked on. */
  async pass(ms: number, reconcile: (key: string) => Promise<ReconcileResult | undefined>): Promise<number> {
    const endMs = this.nowMs + ms;
    let worked = 0;
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      const [key, dueMs] = next;
      this.nowMs = Math.max(this.nowMs, dueMs);
      this.#due.delete(key);
      const result = await reconcile(key);
      if (result?.requeueAfterMs !== undefined) this.add(key, { afterMs: result.requeueAfterMs });
      if (++worked > 100_000) throw new Error('a hot loop');
    }
    this.nowMs = endMs;
    return worked;
  }

  #next(endMs: number): readonly [string, number] | undefined {
    let found: readonly [string, number] | undefined;
    for (const entry of this.#due)
      if (entry[1] <= endMs && (found === undefined || entry[1] < found[1])) found = entry;
    return found;
  }
}
