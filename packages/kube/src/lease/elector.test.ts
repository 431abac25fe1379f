import { afterEach, describe, expect, it } from '@jest/globals';
import { type Answer, json, ScriptedServer, status } from '../testing/scripted-server.ts';
import type { LeaseClock } from './clock.ts';
import { type ElectorOptions, LeaderElector } from './elector.ts';
import { microTime } from './record.ts';

const timing = { leaseDurationMs: 300, renewDeadlineMs: 200, retryPeriodMs: 40 };
/** Where a lease has to be kept: a stall of the machine must not cost it. */
const patient = { leaseDurationMs: 30_000, renewDeadlineMs: 20_000, retryPeriodMs: 40 };
const stopping: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(stopping.splice(0).map((stop) => stop()));
});

interface StoredLease {
  metadata: Record<string, unknown> & { resourceVersion: string };
  spec: Record<string, unknown>;
}

/** One Lease with optimistic locking, which a test may change or make unreachable. */
class LeaseServer {
  lease: StoredLease | undefined;
  failing = false;
  mayCreate = true;
  writes = 0;
  private version = 0;

  readonly answer: Answer = (request, response) => {
    if (this.failing) {
      response.socket?.resetAndDestroy();
      return;
    }
    this.decide(request.method, request.body)(request, response);
  };

  put(spec: Record<string, unknown>, more: Record<string, unknown> = {}): void {
    this.lease = { metadata: { name: 'leader', ...more, resourceVersion: String(++this.version) }, spec };
  }

  private decide(method: string, body: string): Answer {
    if (method === 'GET') {
      return this.lease === undefined ? status(404, 'NotFound') : json(this.lease);
    }
    const sent: StoredLease = JSON.parse(body);
    if (method === 'POST') {
      if (!this.mayCreate) {
        return status(403, 'Forbidden');
      }
      if (this.lease !== undefined) {
        return status(409, 'AlreadyExists');
      }
      this.put(sent.spec);
    } else {
      if (sent.metadata.resourceVersion !== this.lease?.metadata.resourceVersion) {
        return status(409, 'Conflict');
      }
      this.put({ ...this.lease.spec, ...sent.spec }, this.lease.metadata);
    }
    this.writes++;
    return json(this.lease);
  }
}

async function serve(): Promise<{ leases: LeaseServer; server: ScriptedServer }> {
  const leases = new LeaseServer();
  const server = await ScriptedServer.start(leases.answer);
  stopping.push(() => server.close());
  return { leases, server };
}

function candidate(
  server: ScriptedServer,
  identity: string,
  more: Partial<ElectorOptions> = {},
): { elector: LeaderElector; seen: string[] } {
  const seen: string[] = [];
  const client = server.client();
  const elector = new LeaderElector({
    client,
    namespace: 'system',
    name: 'leader',
    identity,
    timing,
    onAcquired: () => seen.push('acquired'),
    onLost: () => seen.push('lost'),
    onHolder: (holder) => seen.push(`holder ${holder}`),
    onError: (error) => seen.push(`error ${error.name}`),
    ...more,
  });
  elector.start();
  stopping.unshift(async () => {
    await elector.stop();
    await client.transport.close();
  });
  return { elector, seen };
}

async function until(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + 5_000;
  while (!condition()) {
    if (performance.now() > endMs) {
      throw new Error('condition not met within 5 s');
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('LeaderElector', () => {
  it('makes one of two candidates the leader, and keeps it', async () => {
    const { leases, server } = await serve();
    const one = candidate(server, 'one', { timing: patient });
    await until(() => one.elector.mayWrite());
    const two = candidate(server, 'two', { timing: patient });
    const writes = leases.writes;
    await until(() => leases.writes >= writes + 12);
    expect(one.elector.mayWrite()).toBe(true);
    expect(two.elector.mayWrite()).toBe(false);
    expect(two.elector.holder).toBe('one');
    expect(leases.lease?.spec).toMatchObject({
      holderIdentity: 'one',
      leaseTransitions: 0,
      leaseDurationSeconds: 30,
      renewTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    });
    expect(one.seen).toEqual(['holder one', 'acquired']);
  });

  it('is released on a clean stop, and taken over without waiting for its expiry', async () => {
    const { leases, server } = await serve();
    const one = candidate(server, 'one', { timing: { ...timing, leaseDurationMs: 60_000 } });
    await until(() => one.elector.mayWrite());
    const two = candidate(server, 'two', { timing: { ...timing, leaseDurationMs: 60_000 } });
    const stopped = one.elector.stop();
    expect(one.elector.mayWrite()).toBe(false);
    await stopped;
    await until(() => two.elector.mayWrite());
    expect(leases.lease?.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
    expect(one.seen).not.toContain('lost');
  });

  it.each([
    ['that nobody held before', {}, 0],
    ['without a spec', undefined, 0],
    ['that was released', { holderIdentity: '', renewTime: microTime(0), leaseTransitions: 0 }, 1],
    ['that another one made and left', { holderIdentity: '', acquireTime: microTime(0) }, 1],
  ])('counts the holders before it, of a Lease %s', async (_which, spec, transitions) => {
    const { leases, server } = await serve();
    leases.put(spec as never);
    const { elector } = candidate(server, 'one');
    await until(() => elector.mayWrite());
    expect(leases.lease?.spec['leaseTransitions']).toBe(transitions);
  });

  it('measures expiry by the time since the last change it saw, not by the times in the Lease', async () => {
    const { leases, server } = await serve();
    const longAgo = microTime(0);
    leases.put({ holderIdentity: 'other', leaseDurationSeconds: 1, renewTime: longAgo, leaseTransitions: 4 });
    const one = candidate(server, 'one');
    const renewing = setInterval(() => {
      leases.put({ ...leases.lease?.spec });
    }, 50);
    const startedMs = performance.now();
    await until(() => performance.now() - startedMs > 600);
    expect(one.elector.mayWrite()).toBe(false);
    clearInterval(renewing);
    const silentMs = performance.now();
    await until(() => one.elector.mayWrite());
    expect(performance.now() - silentMs).toBeGreaterThan(200);
    expect(leases.lease?.spec['leaseTransitions']).toBe(5);
  });

  it('closes the fence before the lease can expire, and says so, when it cannot renew', async () => {
    const { leases, server } = await serve();
    const { elector, seen } = candidate(server, 'one');
    await until(() => elector.mayWrite());
    leases.failing = true;
    const startedMs = performance.now();
    let lastOpenMs = startedMs;
    await until(() => {
      const lookedMs = performance.now();
      if (!elector.mayWrite()) return true;
      lastOpenMs = lookedMs;
      return false;
    });
    // The renewal that was under way may have succeeded.
    expect(lastOpenMs - startedMs).toBeLessThanOrEqual(timing.renewDeadlineMs + 50);
    await until(() => seen.includes('lost'));
    expect(seen).toContain('error ConnectionError');
    expect(leases.lease?.spec['holderIdentity']).toBe('one');
  });

  it('keeps the lease through failures shorter than the deadline', async () => {
    const { leases, server } = await serve();
    const { elector, seen } = candidate(server, 'one', { timing: patient });
    await until(() => elector.mayWrite());
    leases.failing = true;
    await until(() => seen.includes('error ConnectionError'));
    leases.failing = false;
    const writes = leases.writes;
    await until(() => leases.writes > writes + 2);
    expect(elector.mayWrite()).toBe(true);
    expect(seen).not.toContain('lost');
  });

  it('is lost at once when someone else holds the lease', async () => {
    const { leases, server } = await serve();
    const { elector, seen } = candidate(server, 'one');
    await until(() => elector.mayWrite());
    leases.put({ holderIdentity: 'thief', leaseDurationSeconds: 1 });
    await until(() => seen.includes('lost'));
    expect(elector.mayWrite()).toBe(false);
    expect(leases.lease?.spec['holderIdentity']).toBe('thief');
  });

  it('says of a Lease that was deleted and may not be made that it is missing, and goes on once it is back', async () => {
    const { leases, server } = await serve();
    leases.mayCreate = false;
    const errors: unknown[] = [];
    const { elector } = candidate(server, 'one', { onError: (error) => errors.push(error) });
    await until(() => errors.length > 0);
    expect(errors[0]).toMatchObject({
      code: 'KUBE_LEASE_MISSING',
      message: expect.stringMatching(
        /^the Lease system\/leader does not exist, .*helm upgrade brings it back/,
      ),
      cause: expect.objectContaining({ status: 403 }),
    });
    leases.put({});
    await until(() => elector.mayWrite());
  });

  it('loses a race for the lease without a word', async () => {
    const { leases, server } = await serve();
    leases.put({ holderIdentity: '' });
    const candidates = [candidate(server, 'one'), candidate(server, 'two'), candidate(server, 'three')];
    await until(() => candidates.every(({ elector }) => elector.holder !== ''));
    expect(candidates.filter(({ elector }) => elector.mayWrite())).toHaveLength(1);
    expect(candidates.flatMap(({ seen }) => seen).filter((one) => one.startsWith('error'))).toEqual([]);
  });

  it('leaves alone what others wrote into the Lease', async () => {
    const { leases, server } = await serve();
    leases.put({ holderIdentity: '', strategy: 'OldestEmulationVersion' }, { labels: { team: 'a' } });
    const { elector } = candidate(server, 'one');
    await until(() => elector.mayWrite());
    expect(leases.lease).toMatchObject({
      metadata: { labels: { team: 'a' } },
      spec: { strategy: 'OldestEmulationVersion', holderIdentity: 'one' },
    });
  });

  it('counts the longer of two clocks, so that a suspended machine wakes with a closed fence', async () => {
    let monotonicMs = 0;
    let wallMs = 1_000_000;
    const clock: LeaseClock = { monotonicMs: () => monotonicMs, wallMs: () => wallMs };
    const { server } = await serve();
    const long = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 8_000 };
    const { elector } = candidate(server, 'one', { clock, timing: long });
    await until(() => elector.mayWrite());
    monotonicMs = 9_999;
    expect(elector.mayWrite()).toBe(true);
    monotonicMs = 10_000;
    expect(elector.mayWrite()).toBe(false);
    monotonicMs = 1;
    wallMs += 10_000;
    expect(elector.mayWrite()).toBe(false);
    wallMs = 0;
    expect(elector.mayWrite()).toBe(true);
  });

  it('refuses timings under which two could lead', async () => {
    const { server } = await serve();
    const options = { client: server.client(), namespace: 'system', name: 'leader', identity: 'one' };
    expect(() => new LeaderElector({ ...options, timing: { ...timing, renewDeadlineMs: 300 } })).toThrow(
      RangeError,
    );
    expect(() => new LeaderElector({ ...options, timing: { ...timing, retryPeriodMs: 200 } })).toThrow(
      /15 s, 10 s, 2 s/,
    );
  });
});
