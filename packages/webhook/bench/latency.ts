/* oxlint-disable eslint/no-restricted-imports -- of this very package, measured from within */
/**
 * Latency of the shipped webhook at fixed rates, and the most it does, over TLS and with a real Redis; the same load
 * on a bare HTTPS server that sends the body back stands beside it, because on a small machine most of the time is
 * TLS, queueing and this load generator. Needs dist/webhook.mjs (pnpm bundle).
 *
 * node packages/webhook/bench/latency.ts [--quick]
 */
import { startRedis } from '@spotalis/cluster';
import { startEcho, startWebhook, type Target } from './target.ts';
import { atRate, atOnce, type Latencies } from './load.ts';
import { BenchApi } from './world.ts';

const quick = process.argv.includes('--quick');
const rates = quick ? [500] : [500, 1_000, 3_000];
const phaseMs = quick ? 2_000 : 8_000;
const saturationInFlight = 64;
/** As many ReplicaSets as a busy cluster scales at once. */
const replicaSets = 50;

/** After which memory is to be flat; on a slow machine as many as come in the time. */
const enoughAdmissions = quick ? 20_000 : 1_000_000;
const longestRunMs = quick ? 15_000 : 480_000;

interface Phase extends Latencies {
  readonly target: Target['name'];
  readonly rate: number | 'saturation';
  readonly cpuMsPerAnswer: number;
}

// What was started ends with this process, also with one that is told to end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const world = new BenchApi(replicaSets);
const redis = await startRedis();
const apiUrl = await world.start();
const [webhook, echo] = await Promise.all([startWebhook(apiUrl, redis.url), startEcho()]);
const idleRssMb = webhook.rssMb();

const phases: Phase[] = [];
/** Resident set after so many admissions, for the slope. */
const memory: { readonly admissions: number; readonly rssMb: number }[] = [];
let admissions = 0;

type Run = (bodies: () => Buffer) => Promise<Latencies>;

/** The first pods of a ReplicaSet cost a GET and a LIST each; here the many that follow are measured. */
async function warmUp(target: Target): Promise<() => Buffer> {
  const bodies = world.reviews();
  await atOnce(target, 8, 500, bodies);
  return bodies;
}

async function measure(target: Target, rate: Phase['rate'], run: Run): Promise<void> {
  const bodies = await warmUp(target);
  const cpuBeforeMs = target.cpuMs();
  const found = await run(bodies);
  const cpuMsPerAnswer = (target.cpuMs() - cpuBeforeMs) / found.answers;
  phases.push({ target: target.name, rate, ...found, cpuMsPerAnswer });
  if (target !== webhook) return;
  admissions += found.answers;
  memory.push({ admissions, rssMb: webhook.rssMb() });
}

for (const rate of rates) {
  for (const target of [echo, webhook]) {
    await measure(target, rate, (bodies) => atRate(target, rate, phaseMs, bodies));
  }
}
for (const target of [echo, webhook]) {
  await measure(target, 'saturation', (bodies) => atOnce(target, saturationInFlight, phaseMs, bodies));
}
// The same again and again, to see whether memory levels off.
const endAtMs = performance.now() + longestRunMs;
while (admissions < enoughAdmissions && performance.now() < endAtMs) {
  const { answers } = await atOnce(webhook, saturationInFlight, phaseMs, await warmUp(webhook));
  admissions += answers;
  memory.push({ admissions, rssMb: webhook.rssMb() });
}

const counters = await webhook.counters();
const result = {
  benchmark: 'webhook-latency',
  bodyBytes: world.bodyBytes,
  phases,
  memory: { idleRssMb, samples: memory },
  counters,
};
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);

await Promise.all([webhook.stop(), echo.stop()]);
await world.stop();
await redis.stop();
