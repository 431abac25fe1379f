import type { Redis } from 'ioredis';
import type { RedisLedger } from '../redis/redis-ledger.ts';
import { type Script, scripts } from '../redis/script.ts';
import { newRevision, plenty, pod, seventy } from './subject.ts';

/** What Redis itself took for each call of a script, in microseconds. It does nothing else meanwhile. */
async function serverTimesUs(
  client: Redis,
  script: Script,
  work: () => Promise<unknown>,
): Promise<readonly number[]> {
  await client.config('SET', 'slowlog-max-len', '20000');
  // Above what the commands inside a script take: logging them, too, would double its time.
  await client.config('SET', 'slowlog-log-slower-than', '10');
  await client.call('SLOWLOG', 'RESET');
  await work();
  const log = await client.call('SLOWLOG', 'GET', '-1');
  await client.config('SET', 'slowlog-log-slower-than', '-1');
  const calls: unknown[] = Array.isArray(log) ? log : [];
  return calls
    .flatMap((call) => {
      if (!Array.isArray(call)) return [];
      const [, , tookUs, args] = call;
      return Array.isArray(args) && args[1] === script.sha ? [Number(tookUs)] : [];
    })
    .toSorted((a, b) => a - b);
}

/** Of sorted numbers. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A ledger of `size` pods with gaps in their ranks, as after many releases; then so many decisions on it. */
export async function decideTimesUs(
  ledger: RedisLedger,
  client: Redis,
  size: number,
  decisions: number,
): Promise<readonly number[]> {
  const revision = newRevision();
  await ledger.merge(revision, podList(size), await ledger.markList(revision));
  return await serverTimesUs(client, scripts.decidePlace, async () => {
    for (let n = 0; n < decisions; n++) {
      const token = `decision-${n}-of-a-burst-long-as-a-uid`;
      await ledger.decide({
        revision,
        token,
        policy: seventy,
        allowed: 'both',
        knowledge: { kind: 'cached', replicas: plenty },
      });
      await ledger.cancel(revision, token);
    }
  });
}

export interface MergeTimes {
  readonly mergeUs: readonly number[];
  readonly sweepUs: readonly number[];
}

/** Merges a list into an empty ledger, and then half of it into the full one. */
export async function mergeTimesUs(ledger: RedisLedger, client: Redis, size: number): Promise<MergeTimes> {
  const revision = newRevision();
  const list = podList(size);
  const half = { resourceVersion: '3000000', pods: list.pods.slice(0, size / 2) };
  const both = async () => {
    await ledger.merge(revision, list, await ledger.markList(revision));
    await ledger.merge(revision, half, await ledger.markList(revision));
  };
  const mergeUs = await serverTimesUs(client, scripts.mergePods, both);
  await ledger.remove(revision);
  const sweepUs = await serverTimesUs(client, scripts.sweepPlaces, both);
  await ledger.remove(revision);
  return { mergeUs, sweepUs };
}

export function podList(size: number) {
  const pods = Array.from({ length: size }, (_, n) =>
    // As long as a UID; every tenth rank is missing.
    pod(
      `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      n % 3 === 0 ? 'on-demand' : 'spot',
      n + Math.floor(n / 9),
      '1000000',
    ),
  );
  return { resourceVersion: '2000000', pods };
}
