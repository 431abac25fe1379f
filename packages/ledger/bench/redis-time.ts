/**
 * What Redis itself takes for a decision, and for the longest step of a merge, at various sizes; and its memory.
 * node packages/ledger/bench/redis-time.ts
 */
import { startRedis } from '@spotalis/cluster';
import { admin, readyLedger } from '../src/testing/redis.ts';
import { decideTimesUs, mergeTimesUs, podList, quantile } from '../src/testing/server-time.ts';
import { newRevision } from '../src/testing/subject.ts';

const redis = await startRedis();
const client = admin(redis.url);
const ledger = await readyLedger({ url: redis.url });

async function usedBytes(): Promise<number> {
  const [, bytes] = /^used_memory:(\d+)/m.exec(await client.info('memory')) ?? [];
  return Number(bytes);
}

const results = [];
for (const size of [10, 1_000, 5_000, 20_000]) {
  const decide = await decideTimesUs(ledger, client, size, 2_000);
  const { mergeUs, sweepUs } = await mergeTimesUs(ledger, client, size);
  await client.flushall();
  const before = await usedBytes();
  const revision = newRevision();
  await ledger.merge(revision, podList(size), await ledger.markList(revision));
  results.push({
    entries: size,
    decideP50Us: quantile(decide, 0.5),
    decideP99Us: quantile(decide, 0.99),
    mergeStepP50Us: quantile(mergeUs, 0.5),
    mergeStepMaxUs: quantile(mergeUs, 1),
    sweepStepP50Us: quantile(sweepUs, 0.5),
    sweepStepMaxUs: quantile(sweepUs, 1),
    bytesPerEntry: Math.round(((await usedBytes()) - before) / size),
  });
}
process.stdout.write(`${JSON.stringify({ benchmark: 'ledger-redis-time', results }, null, 2)}\n`);

await ledger.close();
client.disconnect();
await redis.stop();
