import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { installationNamespace, type KubeObject, uninstall, waitFor } from '@spotalis/cluster';
import { killLeader } from '../testbed/moves.ts';
import { settled, spotPercentage, ten } from '../testbed/repair.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import { splitOf, type Workload } from '../workloads/workload.ts';
import { Floors } from './floors.ts';

interface Lease extends KubeObject {
  readonly spec: { readonly acquireTime: string };
}

interface Resources {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

describe('from the installation to its end, with the times of the Lease as they are', () => {
  let testbed: Testbed;
  let floors: Floors;
  let workload: Workload;

  beforeAll(async () => {
    testbed = await openTestbed({ configuration: { rebalance: { cooldown: '1s', minPodAge: '1s' } } });
    floors = await Floors.follow(testbed.cluster);
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  it('the first leader, after whom there was nobody, moves at once', async () => {
    workload = await testbed.declare(ten('first', 70));
    await workload.ready(10);
    await workload.patch(spotPercentage(80));
    await settled(workload, { spot: 8, onDemand: 2 });
    const evictedAt = testbed.cluster.auditLog
      .read(({ objectRef }) => objectRef?.subresource === 'eviction' && objectRef.namespace === 'first')
      .map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp));
    expect(evictedAt).toHaveLength(1);
    const { spec } = await testbed.cluster.api.get<Lease>(
      'Lease',
      `${installationNamespace}/spotalis-controller`,
    );
    // Another one would have waited for a minute after it was the leader.
    expect((evictedAt[0] ?? Number.NaN) - Date.parse(spec.acquireTime)).toBeLessThan(60_000);
  }, 120_000);

  it('a leader that is killed has a successor within 20 seconds', async () => {
    const before = await waitFor('a leader', () => testbed.installation.leader());
    const killedAtMs = performance.now();
    await killLeader(testbed);
    await waitFor(
      'another leader',
      async () => {
        const holder = await testbed.installation.leader();
        return holder !== undefined && holder !== before;
      },
      { timeoutMs: 20_000, intervalMs: 100 },
    );
    process.stdout.write(`takeover with the defaults: ${Math.round(performance.now() - killedAtMs)} ms\n`);
  }, 60_000);

  /** Whatever is named after us, of every kind that can be listed. */
  async function traces(): Promise<readonly string[]> {
    const { api } = testbed.cluster;
    const { groups } = await api.raw<{
      groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
    }>('GET', '/apis');
    const roots = [
      '/api/v1',
      ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`),
    ];
    const found: string[] = [];
    for (const root of roots) {
      const { resources } = await api.raw<Resources>('GET', root);
      for (const { name, verbs } of resources) {
        // Events tell what has been, and go by themselves.
        if (name.includes('/') || name === 'events' || !verbs.includes('list')) continue;
        const { items } = await api.raw<{ items: readonly KubeObject[] | null }>('GET', `${root}/${name}`);
        for (const { metadata } of items ?? []) {
          const path = `${metadata?.namespace ?? ''}/${metadata?.name}`;
          if (path.includes('spotalis')) found.push(`${name} ${path}`);
        }
      }
    }
    return found;
  }

  it('the end of it leaves nothing but the pods, where they are, and new ones alone', async () => {
    expect(await traces()).toContain('leases spotalis-system/spotalis-controller');
    const before = (await workload.ready(10)).map(({ metadata }) => metadata?.uid);
    await testbed.installation.stop();
    await uninstall(testbed.cluster.api);
    const names = await waitFor('everything of ours to be gone', traces, {
      timeoutMs: 60_000,
      intervalMs: 500,
      until: (left) => left.length === 0,
    });
    expect(names).toEqual([]);
    await workload.scale(14);
    const pods = await workload.ready(14);
    expect(pods.map(({ metadata }) => metadata?.uid)).toEqual(expect.arrayContaining(before));
    expect(splitOf(pods)).toEqual({ spot: 8, onDemand: 2, unsteered: 4 });
    expect(testbed.evictions()).toBe(1);
  }, 120_000);

  it('every workload keeps its floor at each eviction', async () => {
    expect(await floors.breaches()).toEqual([]);
  });
});
