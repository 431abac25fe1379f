/**
 * Reservations a second and their latency, with so many in flight at once, from one process.
 * node packages/ledger/bench/throughput.ts
 */
import { startRedis } from '@spotalis/cluster';
import { readyLedger } from '../src/testing/redis.ts';
import { quantile } from '../src/testing/server-time.ts';
import { newRevision, request, seed } from '../src/testing/subject.ts';

const measureMs = 2_000;
/** As many ReplicaSets as a busy cluster scales at once. */
const replicaSets = 50;

const redis = await startRedis();
const ledger = await readyLedger({ url: redis.url });
const revisions = Array.from({ length: replicaSets }, newRevision);
for (const revision of revisions) await seed(ledger, revision);

let calls = 0;

async function load(inFlight: number, forMs: number): Promise<number[]> {
  const latenciesMs: number[] = [];
  const end = performance.now() + forMs;
  const client = async (): Promise<void> => {
    for (let start = performance.now(); start < end; start = performance.now()) {
      const n = calls++;
      const revision = revisions[n % replicaSets] ?? newRevision();
      await ledger.decide(request(revision, `token-${n}`));
      latenciesMs.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, client));
  return latenciesMs.toSorted((a, b) => a - b);
}

await load(8, 500);
const results = [];
for (const inFlight of [1, 2, 4, 8, 16, 32, 64]) {
  const latenciesMs = await load(inFlight, measureMs);
  results.push({
    inFlight,
    reservationsPerSecond: Math.round((latenciesMs.length * 1_000) / measureMs),
    p50Ms: Number(quantile(latenciesMs, 0.5).toFixed(3)),
    p99Ms: Number(quantile(latenciesMs, 0.99).toFixed(3)),
  });
}
process.stdout.write(`${JSON.stringify({ benchmark: 'ledger-throughput', results }, null, 2)}\n`);

await ledger.close();
await redis.stop();
