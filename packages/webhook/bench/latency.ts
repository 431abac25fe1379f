/**
 * Latency of the shipped webhook at fixed rates, and the most it does, over TLS and with a real Redis; the same load
 * on a bare HTTPS server that sends the body back stands beside it, because on a small machine most of the time is
 * TLS, queueing and this load generator. Needs dist/webhook.mjs (pnpm bundle).
 *
 * node packages/webhook/bench/latency.ts [--quick]
 */
import { startRedis } from '@spotalis/cluster';
import { startEcho, startWebhook, type Target } from './target.ts';
import { Caller, type Latencies } from './load.ts';
import { BenchApi } from './world.ts';

const quick = process.argv.includes('--quick');
const rates = quick ? [500] : [500, 1_000, 3_000];
const phaseMs = quick ? 2_000 : 4_000;
/** Whatever else the machine does now and then falls into some of them. */
const rounds = quick ? 1 : 7;
/** Until the code of both is compiled; a webhook in service is. */
const warmingMs = quick ? 500 : 5_000;
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

const admitting = new Caller(webhook);
const callers = [new Caller(echo), admitting];

type Run = (caller: Caller, bodies: () => Buffer) => Promise<Latencies>;

/** The first pods of a ReplicaSet cost more; here the many that follow are measured. */
async function warmUp(caller: Caller): Promise<() => Buffer> {
  const bodies = world.reviews();
  await caller.atOnce(8, 500, bodies);
  return bodies;
}

/** One after the other. */
async function measure(rate: Phase['rate'], run: Run): Promise<void> {
  for (const caller of callers) {
    const { target } = caller;
    const bodies = await warmUp(caller);
    const cpuBeforeMs = target.cpuMs();
    const found = await run(caller, bodies);
    const cpuMsPerAnswer = (target.cpuMs() - cpuBeforeMs) / found.answers;
    phases.push({ target: target.name, rate, ...found, cpuMsPerAnswer });
    if (target === webhook) remember(found);
  }
}

function remember({ answers }: Latencies): void {
  admissions += answers;
  memory.push({ admissions, rssMb: webhook.rssMb() });
}

const asManyAsItCan: Run = (caller, bodies) => caller.atOnce(saturationInFlight, phaseMs, bodies);

for (const caller of callers) await caller.atOnce(saturationInFlight, warmingMs, world.reviews());
for (let round = 0; round < rounds; round += 1) {
  for (const rate of rates) await measure(rate, (caller, bodies) => caller.atRate(rate, phaseMs, bodies));
  await measure('saturation', asManyAsItCan);
}
// The same again and again, to see whether memory levels off.
const endAtMs = performance.now() + longestRunMs;
while (admissions < enoughAdmissions && performance.now() < endAtMs) {
  remember(await asManyAsItCan(admitting, await warmUp(admitting)));
}

const counters = await webhook.counters();
const result = {
  benchmark: 'webhook-latency',
  bodyBytes: world.bodyBytes,
  phases,
  memory: { idleRssMb, samples: memory, filesMb: webhook.filesMb(), echoRssMb: echo.rssMb() },
  counters,
};
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);

for (const caller of callers) caller.stop();
await Promise.all([webhook.stop(), echo.stop()]);
await world.stop();
await redis.stop();
