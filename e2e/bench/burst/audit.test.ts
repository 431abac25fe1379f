import { describe, expect, it } from '@jest/globals';
import type { AuditEvent } from '@spotalis/cluster';
import { readBurst } from './audit.ts';

const webhook = 'system:serviceaccount:spotalis-system:spotalis-webhook';

/** Times in microseconds after some second. */
function event(
  verb: string,
  what: string,
  fromUs: number,
  toUs: number,
  more: { code?: number; user?: string; namespace?: string } = {},
): AuditEvent {
  const { code = 201, user = 'somebody', namespace = 'burst' } = more;
  const [resource = '', subresource] = what.split('/');
  const at = (us: number): string => `2026-01-02T03:04:05.${String(us).padStart(6, '0')}Z`;
  return Object.assign(
    {
      auditID: `${verb} ${what} ${fromUs}`,
      verb,
      requestURI: '',
      user: { username: user },
      objectRef: { resource, namespace, ...(subresource !== undefined && { subresource }) },
      responseStatus: { code },
      requestReceivedTimestamp: at(fromUs),
    },
    { stageTimestamp: at(toUs) },
  );
}

const startMs = Date.parse('2026-01-02T03:04:05Z');
const read = (events: readonly AuditEvent[]) => readBurst({ read: () => [...events] }, 'burst', startMs);

describe('a burst in the audit log', () => {
  it('lasts from the first Deployment received to the last pod answered, to the microsecond', () => {
    const burst = read([
      event('create', 'pods', 3_250, 9_750),
      event('patch', 'deployments', 1_100, 2_000),
      event('patch', 'deployments', 1_400, 5_000),
      event('create', 'pods', 4_000, 8_000),
    ]);
    expect(burst.firstRequestMs - startMs).toBeCloseTo(1.1, 3);
    expect(burst.lastPodMs - startMs).toBeCloseTo(9.75, 3);
    expect(burst.createMs.map((ms) => Number(ms.toFixed(3)))).toEqual([6.5, 4]);
  });

  it('does not count refused creations as pods', () => {
    const burst = read([event('create', 'pods', 1, 2, { code: 500 }), event('create', 'pods', 3, 4)]);
    expect(burst).toMatchObject({ refused: 1, createMs: { length: 1 } });
  });

  it('counts evictions, and no binding', () => {
    const burst = read([event('create', 'pods/eviction', 1, 2), event('create', 'pods/binding', 3, 4)]);
    expect(burst).toMatchObject({ evictions: 1, createMs: [] });
  });

  it('leaves out other namespaces and what was before', () => {
    const earlier = readBurst({ read: () => [event('create', 'pods', 1, 2)] }, 'burst', startMs + 1);
    expect(earlier.createMs).toEqual([]);
    expect(read([event('create', 'pods', 1, 2, { namespace: 'warm-up' })]).createMs).toEqual([]);
  });

  it('counts what the webhook reads, in whatever namespace', () => {
    const burst = read([
      event('get', 'replicasets', 1, 2, { user: webhook }),
      event('list', 'pods', 1, 2, { user: webhook, namespace: 'other' }),
      event('get', 'replicasets', 1, 2, { user: webhook }),
      event('get', 'replicasets', 1, 2),
      event('watch', 'deployments', 1, 2, { user: webhook }),
    ]);
    expect(burst.webhookReads).toEqual({ list: 1, get: 2 });
  });
});
