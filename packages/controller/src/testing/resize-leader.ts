/**
 * A process for resizer.real.test.ts: a leader that takes up what is pending on one pod, and then resizes it as it is
 * told. It is killed from outside. Prints `leads` and each answer as JSON.
 */
import { randomUUID } from 'node:crypto';
import { Credentials, LeaderElector, ApiClient, resource, Transport } from '@spotalis/kube';
import type { RawResizablePod, ResizeIntent } from '@spotalis/core';
import { type Ask, intentOf, silentLogger, unhindered } from './resizing.ts';
import { Resizer } from '../kernel/resize/resizer.ts';

const ask: Ask = JSON.parse(process.env['ASK'] ?? '');
const pods = resource<RawResizablePod>('v1', 'pods', 'Pod');
const client = new ApiClient(
  new Transport({ credentials: new Credentials(), userAgent: `leader-${process.pid}` }),
);
const place = { namespace: ask.namespace, name: ask.pod };
const elector = new LeaderElector({
  client,
  namespace: 'default',
  name: 'resizer',
  identity: randomUUID(),
  timing: { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 },
  onAcquired: () => void lead(),
  onLost: () => process.exit(1),
});
const resizer = new Resizer({
  client,
  mayWrite: () => elector.mayWrite(),
  surroundingsOf: () => unhindered,
  now: () => performance.now(),
  logger: silentLogger,
});

async function lead(): Promise<void> {
  process.stdout.write('leads\n');
  const seen = await client.get(pods, place);
  // In place of a watch.
  setInterval(() => void client.get(pods, place).then((raw) => resizer.saw(raw)), 200);
  await resizer.takeUp([{ ...place, uid: seen.metadata.uid }]);
  const intent: ResizeIntent = intentOf(ask, seen);
  process.stdout.write(`${JSON.stringify(await resizer.resize(intent))}\n`);
}

elector.start();
