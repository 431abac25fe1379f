/** Calls once, when nothing postponed it for long enough. Postponing costs an assignment, not a timer. */
export class Silence {
  private readonly onSilence: () => void;
  private dueMs: number;
  private timer: NodeJS.Timeout;

  constructor(patienceMs: number, onSilence: () => void) {
    this.onSilence = onSilence;
    this.dueMs = performance.now() + patienceMs;
    this.timer = setTimeout(() => this.check(), patienceMs);
  }

  postpone(patienceMs: number): void {
    this.dueMs = performance.now() + patienceMs;
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private check(): void {
    const leftMs = this.dueMs - performance.now();
    if (leftMs <= 0) {
      this.onSilence();
    } else {
      this.timer = setTimeout(() => this.check(), leftMs);
    }
  }
}
