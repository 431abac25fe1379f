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

interface Freeze {
  readonly writer: string;
  readonly wokenWallMs: number;
}

interface Entry {
  readonly writer: string;
  readonly kind: 'lease' | 'write';
  readonly ok: boolean;
  /** With microseconds, and of one length: sorts as text. */
  readonly at: string;
}

describe('two candidates, the leader frozen by SIGSTOP past the end of its lease', () => {
  it('never write together: what wakes begins no write before it leads again', async () => {
    const freezes: Freeze[] = [];
    const endMs = performance.now() + RUN_MS;
    let leader = await leaderOtherThan(undefined);
    while (performance.now() < endMs) {
      cluster.freezeComponent(leader);
      const next = await leaderOtherThan(leader);
      // Long enough that the successor writes, and never the same moment of its work.
      const extraMs = Math.random() * 150;
      const thawMs = performance.now() + extraMs;
      await waitFor('the time to wake it', () => performance.now() >= thawMs, { intervalMs: 5 });
      freezes.push({ writer: leader, wokenWallMs: Date.now() });
      cluster.thawComponent(leader);
      leader = next;
    }
    const entries = cluster.auditLog
      .read(({ userAgent }) => WRITERS.some((writer) => writer === userAgent))
      .flatMap(entryOf)
      .toSorted((left, right) => (left.at < right.at ? -1 : 1));
    const writes = entries.filter((one) => one.kind === 'write');
    const violations = foreignWrites(entries);
    const stale = freezes.filter((freeze) => wroteBeforeLeading(entries, freeze));
    process.stdout.write(
      `${freezes.length} freezes of the leader, ${writes.length} writes, ${violations.length} by one that did not ` +
        `hold the lease, ${stale.length} begun after waking\n`,
    );
    expect(freezes.length).toBeGreaterThan(20);
    expect(writes.length).toBeGreaterThan(freezes.length * 5);
    expect(violations).toEqual([]);
    expect(stale).toEqual([]);
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
      at: event.requestReceivedTimestamp,
    },
  ];
}

/** Writes that arrived when the last to have written the lease was another. */
function foreignWrites(entries: readonly Entry[]): Entry[] {
  let holder: string | undefined;
  const found: Entry[] = [];
  for (const entry of entries) {
    if (entry.kind === 'lease' && entry.ok) {
      holder = entry.writer;
    } else if (entry.kind === 'write' && entry.writer !== holder) {
      found.push(entry);
    }
  }
  return found;
}

/** Whether a woken process wrote before it had taken the lease again. */
function wroteBeforeLeading(entries: readonly Entry[], { writer, wokenWallMs }: Freeze): boolean {
  const after = entries.filter((one) => one.writer === writer && Date.parse(one.at) > wokenWallMs);
  const led = after.findIndex((one) => one.kind === 'lease' && one.ok);
  return after.slice(0, led < 0 ? undefined : led).some((one) => one.kind === 'write');
}
