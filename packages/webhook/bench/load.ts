import { Agent, request } from 'node:https';
import type { Target } from './target.ts';

export interface Latencies {
  readonly answers: number;
  readonly failures: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

type Bodies = () => Buffer;

/** Who calls one target, over connections that stay open from one load to the next, as those of an API server do. */
export class Caller {
  readonly target: Target;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(target: Target) {
    this.target = target;
  }

  /**
   * Open loop: requests begin when they are due, whether or not earlier ones have been answered, and each is timed
   * from when it was due. A closed loop would wait with a slow server and never see its queue.
   */
  async atRate(perSecond: number, forMs: number, bodies: Bodies): Promise<Latencies> {
    const recorder = new Recorder();
    const total = Math.round((perSecond * forMs) / 1_000);
    const beganMs = performance.now();
    const sent: Promise<void>[] = [];
    while (sent.length < total) {
      const due = Math.min(total, Math.floor(((performance.now() - beganMs) * perSecond) / 1_000) + 1);
      while (sent.length < due) {
        const dueMs = beganMs + (sent.length * 1_000) / perSecond;
        sent.push(this.#send(bodies()).then((status) => recorder.record(status, dueMs)));
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(sent);
    return recorder.latencies(performance.now() - beganMs);
  }

  /** Closed loop with so many under way at once: the most that the target does. */
  async atOnce(inFlight: number, forMs: number, bodies: Bodies): Promise<Latencies> {
    const recorder = new Recorder();
    const beganMs = performance.now();
    const client = async (): Promise<void> => {
      while (performance.now() - beganMs < forMs) {
        const sentMs = performance.now();
        recorder.record(await this.#send(bodies()), sentMs);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, client));
    return recorder.latencies(performance.now() - beganMs);
  }

  stop(): void {
    this.#agent.destroy();
  }

  /** The status; 0 where there was no answer. */
  #send(body: Buffer): Promise<number> {
    const { port, ca } = this.target;
    return new Promise((resolve) => {
      const call = request(
        {
          host: 'localhost',
          port,
          ca,
          path: '/mutate?timeout=2s',
          method: 'POST',
          agent: this.#agent,
          headers: { 'content-type': 'application/json', 'content-length': body.length },
        },
        (answer) => {
          answer.resume();
          answer.once('end', () => resolve(answer.statusCode ?? 0));
        },
      );
      call.once('error', () => resolve(0));
      call.end(body);
    });
  }
}

class Recorder {
  readonly #latenciesMs: number[] = [];
  #failures = 0;

  record(status: number, sinceMs: number): void {
    if (status === 200) this.#latenciesMs.push(performance.now() - sinceMs);
    else this.#failures += 1;
  }

  latencies(tookMs: number): Latencies {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
    const at = (share: number): number =>
      Number(
        (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(2),
      );
    return {
      answers: sorted.length,
      failures: this.#failures,
      perSecond: Math.round((sorted.length * 1_000) / tookMs),
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      p999Ms: at(0.999),
      maxMs: at(1),
    };
  }
}
