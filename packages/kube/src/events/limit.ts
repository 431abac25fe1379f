/** As client-go's spam filter: an object may have this many Events at once, and one more every five minutes. */
const BURST = 25;
const REFILL_MS = 300_000;
/** Objects remembered. A forgotten one starts with a full bucket, which is harmless. */
const OBJECTS = 4_096;

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/** One token bucket per object, the least recently used forgotten first. */
export class ObjectLimit {
  private readonly buckets = new Map<string, Bucket>();
  private readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  /** Takes a token if there is one. */
  allow(object: string): boolean {
    const nowMs = this.now();
    const bucket = this.buckets.get(object) ?? { tokens: BURST, atMs: nowMs };
    const tokens = Math.min(BURST, bucket.tokens + (nowMs - bucket.atMs) / REFILL_MS);
    const allowed = tokens >= 1;
    this.buckets.delete(object);
    this.buckets.set(object, { tokens: allowed ? tokens - 1 : tokens, atMs: nowMs });
    for (const oldest of this.buckets.keys()) {
      if (this.buckets.size <= OBJECTS) {
        break;
      }
      this.buckets.delete(oldest);
    }
    return allowed;
  }
}
