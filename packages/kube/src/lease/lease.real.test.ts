/** @needs control-plane */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AuditEvent, type Cluster, startCluster, waitFor } from '@spotalis/cluster';

const WRITERS = ['writer-a', 'writer-b'] as const;
/** Short terms, so that many freezes fit into a minute. */
const TIMING = { leaseDurationMs: 600, renewDeadlineMs: 400, retryPeriodMs: 80 };
const RUN_MS = 40_000;

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ spotNodes: 0, onDemandNodes: 0, audit: true });
  await cluster.api.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'written' } });
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = TIMING;
  for (const name of WRITERS) {
    await cluster.startService({
      name,
      script: fileURLToPath(new URL('../testing/lease-writer.ts', import.meta.url)),
      kubeconfig: cluster.kubeconfig,
      env: { WRITER: name, TIMING: [leaseDurationMs, renewDeadlineMs, retryPeriodMs].join(',') },
    });
  }
}, 120_000);

afterAll(async () => {
  await cluster?.stop();
}, 30_000);

interface Entry {
  readonly writer: string;
  readonly kind: 'lease' | 'write';
  readonly ok: boolean;
  readonly fieldManager: string;
  /** With microseconds, and of one length: sorts as text. */
  readonly at: string;
}

/** A write that arrived when the last to have written the lease was another. */
interface ForeignWrite extends Entry {
  readonly takenAtMs: number;
  readonly beganMs: number;
}

describe('two candidates, the leader frozen by SIGSTOP past the end of its lease', () => {
  it('never write together: what wakes begins no write before it leads again', async () => {
    let freezes = 0;
    const endMs = performance.now() + RUN_MS;
    let leader = await leaderOtherThan(undefined);
    while (performance.now() < endMs) {
      cluster.freezeComponent(leader);
      const next = await leaderOtherThan(leader);
      // Long enough that the successor writes, and never the same moment of its work.
      const thawMs = performance.now() + Math.random() * 150;
      await waitFor('the time to wake it', () => performance.now() >= thawMs, { intervalMs: 5 });
      cluster.thawComponent(leader);
      freezes++;
      leader = next;
    }
    const entries = cluster.auditLog
      .read(({ userAgent }) => WRITERS.some((writer) => writer === userAgent))
      .flatMap(entryOf)
      .toSorted((left, right) => (left.at < right.at ? -1 : 1));
    const writes = entries.filter((one) => one.kind === 'write');
    const foreign = foreignWrites(entries, beginnings());
    const begunLate = foreign.filter(({ beganMs, takenAtMs }) => !(beganMs < takenAtMs));
    process.stdout.write(
      `${freezes} freezes of the leader, ${writes.length} writes, ${begunLate.length} begun without the lease, ` +
        `${foreign.length} on their way to the server when frozen\n`,
    );
    expect(freezes).toBeGreaterThan(20);
    expect(writes.length).toBeGreaterThan(freezes * 5);
    expect(begunLate).toEqual([]);
    // A freeze between the last look at the fence and the system call cannot be helped; a look taken too early could.
    expect(foreign.length).toBeLessThanOrEqual(freezes / 10);
  }, 120_000);
});

/** Waits until the other one holds the lease. */
async function leaderOtherThan(writer: string | undefined): Promise<string> {
  return waitFor(
    `a leader other than ${writer ?? 'nobody'}`,
    async () => {
      const lease = await cluster.api.find<{ spec: { holderIdentity?: string } }>('Lease', 'leader');
      const holder = WRITERS.find((one) => lease?.spec.holderIdentity?.startsWith(one));
      return holder === writer ? undefined : holder;
    },
    { intervalMs: 10 },
  );
}

function entryOf(event: AuditEvent): Entry[] {
  const { resource } = event.objectRef ?? {};
  if (event.verb === 'get' || (resource !== 'leases' && resource !== 'configmaps')) {
    return [];
  }
  return [
    {
      writer: event.userAgent ?? '',
      kind: resource === 'leases' ? 'lease' : 'write',
      ok: (event.responseStatus?.code ?? 500) < 300,
      fieldManager: new URL(event.requestURI, 'http://server').searchParams.get('fieldManager') ?? '',
      at: event.requestReceivedTimestamp,
    },
  ];
}

/** When each write had its last look at the fence, by its field manager. */
function beginnings(): Map<string, number> {
  const lines = WRITERS.flatMap((writer) =>
    readFileSync(cluster.component(writer).logFile, 'utf8').split('\n'),
  );
  const began = lines.map((line) => line.split(' ')).filter(([word]) => word === 'began');
  return new Map(began.map(([, fieldManager = '', wallMs]) => [fieldManager, Number(wallMs)]));
}

function foreignWrites(entries: readonly Entry[], began: ReadonlyMap<string, number>): ForeignWrite[] {
  let holder: Entry | undefined;
  const found: ForeignWrite[] = [];
  for (const entry of entries) {
    if (entry.kind === 'lease' && entry.ok) {
      // The first of a term is what took the lease; the others renew it.
      holder = holder?.writer === entry.writer ? holder : entry;
    } else if (entry.kind === 'write' && entry.writer !== holder?.writer) {
      const takenAtMs = Date.parse(holder?.at ?? entry.at);
      found.push({ ...entry, takenAtMs, beganMs: began.get(entry.fieldManager) ?? Number.NaN });
    }
  }
  return found;
}
