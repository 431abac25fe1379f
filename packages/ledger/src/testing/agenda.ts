/** Simulated time: what is to happen, in order, and in the order of asking where the times are equal. */
export class Agenda {
  nowMs = 0;
  #asked = 0;
  readonly #heap: { atMs: number; order: number; action: () => void }[] = [];

  after(delayMs: number, action: () => void): void {
    const heap = this.#heap;
    heap.push({ atMs: this.nowMs + delayMs, order: this.#asked++, action });
    let child = heap.length - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#before(child, parent)) break;
      this.#swap(child, parent);
      child = parent;
    }
  }

  runUntil(untilMs: number): void {
    for (let first = this.#heap[0]; first !== undefined && first.atMs <= untilMs; first = this.#heap[0]) {
      this.#removeFirst();
      this.nowMs = first.atMs;
      first.action();
    }
    this.nowMs = Math.max(this.nowMs, untilMs);
  }

  #removeFirst(): void {
    const heap = this.#heap;
    this.#swap(0, heap.length - 1);
    heap.pop();
    let parent = 0;
    for (;;) {
      let least = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2]) {
        if (child < heap.length && this.#before(child, least)) least = child;
      }
      if (least === parent) return;
      this.#swap(parent, least);
      parent = least;
    }
  }

  #before(a: number, b: number): boolean {
    const [x, y] = [this.#heap[a], this.#heap[b]];
    if (x === undefined || y === undefined) return false;
    return x.atMs < y.atMs || (x.atMs === y.atMs && x.order < y.order);
  }

  #swap(a: number, b: number): void {
    const [x, y] = [this.#heap[a], this.#heap[b]];
    if (x === undefined || y === undefined) return;
    this.#heap[a] = y;
    this.#heap[b] = x;
  }
}
