import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KubeObject, waitFor } from '@spotalis/cluster';
import { type PolicyNumbers, policyKeys } from '@spotalis/core';
import { decidedOften, eventsOn, killLeader, verdictOn } from '../testbed/moves.ts';
import { openTestbed, quickTakeover, type Testbed } from '../testbed/testbed.ts';
import { type Declaration, typeOf, type Workload } from '../workloads/workload.ts';
import { Floors } from './floors.ts';

/** Long enough for a slow machine to create all pods before the first has waited in vain: they are counted. */
const configuration = {
  controller: {
    resyncPeriod: '5s',
    leaderElection: quickTakeover,
  },
  fallback: { after: '8s', backoff: { initial: '3s', max: '10s' }, maxPlaceholders: 10 },
  rebalance: {
    cooldown: '100ms',
    minPodAge: '1s',
    maxMovesPerMinute: 1_000,
    maxInFlight: { namespace: 50, node: 50, cluster: 100 },
  },
};

/** One workload each, in a namespace of that name, with spot nodes of its own: a drought ends without the others. */
const lanes = ['fresh', 'settled', 'shrunk', 'partial', 'probed'] as const;
type Lane = (typeof lanes)[number];
const laneLabel = (lane: Lane): string => `example.com/${lane}`;

/** Three pods that ask for so much fill one of the nodes. */
const THIRD_OF_A_NODE = '300';

interface NodeObject extends KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly status: { readonly capacity: object; readonly allocatable: object };
}

describe('in a cluster that never had a spot node, a drought', () => {
  let testbed: Testbed;
  let floors: Floors;

  beforeAll(async () => {
    const everyLane = Object.fromEntries(lanes.map((lane) => [laneLabel(lane), 'true']));
    testbed = await openTestbed({
      patient: true,
      configuration,
      spotNodes: 0,
      nodeLabels: (type) => (type === 'on-demand' ? everyLane : {}),
    });
    floors = await Floors.follow(testbed.cluster);
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  const workloads = new Map<Lane, Workload>();
  const inLane = (lane: Lane): Workload => {
    const workload = workloads.get(lane);
    if (workload === undefined) throw new Error(`${lane} was not declared`);
    return workload;
  };

  async function declare(lane: Lane, replicas: number, policy: PolicyNumbers, cpu = '1m'): Promise<void> {
    const declaration: Declaration = { name: 'web', namespace: lane, replicas, policy };
    const labels = { app: declaration.name };
    const container = {
      name: 'app',
      image: 'registry.k8s.io/pause:3.10',
      resources: { requests: { cpu, memory: '1Mi' } },
    };
    const spec = {
      terminationGracePeriodSeconds: 0,
      nodeSelector: { [laneLabel(lane)]: 'true' },
      containers: [container],
    };
    workloads.set(
      lane,
      await testbed.declare({ ...declaration, spec: { template: { metadata: { labels }, spec } } }),
    );
  }

  /** Spot nodes join that were never there before, as large as the others. */
  async function spotNodesJoin(lane: Lane, from: number, to: number): Promise<void> {
    const { api } = testbed.cluster;
    const { metadata, status } = await api.get<NodeObject>('Node', 'on-demand-1');
    const others = Object.entries(metadata.labels).filter(([key]) => !key.startsWith('example.com/'));
    for (let index = from; index <= to; index++) {
      const name = `${lane}-${index}`;
      const node: NodeObject = {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: {
          name,
          labels: {
            ...Object.fromEntries(others),
            [laneLabel(lane)]: 'true',
            'karpenter.sh/capacity-type': 'spot',
            'karpenter.sh/nodepool': 'spot',
            'kubernetes.io/hostname': name,
          },
          annotations: metadata.annotations,
        },
        status: { capacity: status.capacity, allocatable: status.allocatable },
      };
      await api.create(node);
    }
  }

  /** How many pods of a lane were evicted, each once, from the API server's own log. */
  function evicted(lane: Lane): number {
    const names = testbed.cluster.auditLog
      .read(
        ({ objectRef, responseStatus }) =>
          objectRef?.subresource === 'eviction' &&
          objectRef.namespace === lane &&
          (responseStatus?.code ?? 0) < 300,
      )
      .map(({ objectRef }) => objectRef?.name);
    expect(new Set(names).size).toBe(names.length);
    return names.length;
  }

  const evictedInAll = () => Object.fromEntries(lanes.map((lane) => [lane, evicted(lane)]));

  /** Waits until as many pods live, all Ready, with so many on spot. */
  async function split(lane: Lane, replicas: number, spot: number): Promise<void> {
    const workload = inLane(lane);
    let seen = -1;
    await waitFor(
      `${replicas} pods of ${workload.path}, ${spot} on spot`,
      async () => {
        const pods = await workload.ready(replicas, 150_000);
        seen = pods.filter((pod) => typeOf(pod) === 'spot').length;
        return seen === spot;
      },
      { timeoutMs: 150_000, intervalMs: 200 },
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}; ${seen} are`);
    });
  }

  async function breaker(lane: Lane) {
    const { workloadUid } = await inLane(lane).revision();
    return testbed.ledger.breaker(workloadUid);
  }

  async function breakerIs(lane: Lane, state: 'open' | 'half-open' | 'closed', permits?: number) {
    await waitFor(
      `the breaker of ${lane} to be ${state} ${permits ?? ''}`,
      async () => {
        const found = await breaker(lane);
        if (found.state !== state) return false;
        return permits === undefined || (found.state === 'half-open' && found.permits === permits);
      },
      { timeoutMs: 90_000, intervalMs: 100 },
    );
  }

  it('is bridged, with one eviction for each pod that waits', async () => {
    await Promise.all([
      declare('fresh', 10, { spotPercentage: 70, minOnDemand: 2 }),
      declare('settled', 4, { spotPercentage: 0, minOnDemand: 1 }),
      declare('shrunk', 10, { spotPercentage: 70, minOnDemand: 4 }),
      declare('partial', 10, { spotPercentage: 100, minOnDemand: 0 }, THIRD_OF_A_NODE),
      declare('probed', 4, { spotPercentage: 100, minOnDemand: 2 }),
    ]);
    await Promise.all([
      split('fresh', 10, 0),
      split('settled', 4, 0),
      split('shrunk', 10, 0),
      split('partial', 10, 0),
      split('probed', 4, 0),
    ]);
    expect(evictedInAll()).toEqual({ fresh: 7, settled: 0, shrunk: 6, partial: 10, probed: 2 });
    for (const lane of lanes) {
      const started = await eventsOn(testbed, inLane(lane), 'FallbackStarted');
      expect(started).toHaveLength(lane === 'settled' ? 0 : 1);
    }
  }, 120_000);

  it('makes nobody evict what runs on on-demand, however often it is decided', async () => {
    const settled = inLane('settled');
    await settled.patch({ metadata: { annotations: { [policyKeys.spotPercentage]: '100' } } });
    await decidedOften(testbed, settled, 'NoCapacity', 10);
    expect(evicted('settled')).toBe(0);
    expect(await settled.split()).toEqual({ spot: 0, onDemand: 4, unsteered: 0 });
  }, 120_000);

  it('in which a workload shrinks below its floor ends with the return, and with nothing to undo', async () => {
    const shrunk = inLane('shrunk');
    await shrunk.scale(3);
    await split('shrunk', 3, 0);
    await breakerIs('shrunk', 'half-open', 1);
    await spotNodesJoin('shrunk', 1, 1);
    await breakerIs('shrunk', 'closed');
    await shrunk.scale(10);
    await split('shrunk', 10, 6);
    expect(evicted('shrunk')).toBe(6);
  }, 120_000);

  it('that ends with room for three of ten has three go back, and no more until there is room', async () => {
    const partial = inLane('partial');
    await spotNodesJoin('partial', 1, 1);
    await split('partial', 10, 3);
    expect(evicted('partial')).toBe(10 + 3);
    await decidedOften(testbed, partial, 'NoCapacity', 10);
    await breakerIs('partial', 'half-open');
    await split('partial', 10, 3);
    expect(evicted('partial')).toBe(10 + 3);
  }, 240_000);

  it('survives that the only pod let through is deleted, and that the leader dies with no permit left', async () => {
    const probed = inLane('probed');
    await probed.scale(2);
    await split('probed', 2, 0);
    await breakerIs('probed', 'half-open', 1);
    // Time for a slow machine to delete the pod before it has waited in vain.
    await probed.patch({ metadata: { annotations: { [policyKeys.spotFallbackAfter]: '20s' } } });
    await probed.scale(4);
    await waitFor('one pod to be let through', async () => {
      const pods = await probed.pods();
      return pods.length === 4 && pods.filter((pod) => typeOf(pod) === 'spot').length === 1;
    });
    await probed.scale(3);
    await split('probed', 3, 0);
    await breakerIs('probed', 'half-open', 0);
    const before = evictedInAll();

    const leader = await waitFor('a leader', () => testbed.installation.leader());
    await killLeader(testbed);
    await waitFor(
      'another leader',
      async () => {
        const holder = await testbed.installation.leader();
        return holder !== undefined && holder !== leader;
      },
      { timeoutMs: 60_000 },
    );
    await breakerIs('probed', 'half-open', 1);
    expect((await breaker('partial')).state).toBe('half-open');
    expect(evictedInAll()).toEqual(before);
  }, 180_000);

  it('is undone under the new leader by one move for each substitute', async () => {
    expect(evictedInAll()).toEqual({ fresh: 7, settled: 0, shrunk: 6, partial: 13, probed: 2 });
    await Promise.all([
      spotNodesJoin('fresh', 1, 1),
      spotNodesJoin('settled', 1, 1),
      spotNodesJoin('partial', 2, 4),
      spotNodesJoin('probed', 1, 1),
    ]);
    await Promise.all([
      split('fresh', 10, 7),
      split('settled', 4, 3),
      split('partial', 10, 10),
      split('probed', 3, 1),
    ]);
    for (const lane of lanes) {
      await verdictOn(testbed, inLane(lane), 'Balanced');
      await breakerIs(lane, 'closed');
    }
    expect(evictedInAll()).toEqual({ fresh: 7 + 7, settled: 3, shrunk: 6, partial: 10 + 10, probed: 2 + 1 });
    for (const lane of lanes) {
      const ended = async () => (await eventsOn(testbed, inLane(lane), 'FallbackEnded')).length;
      if (lane === 'settled') expect(await ended()).toBe(0);
      else await waitFor(`the end of the drought of ${lane}`, async () => (await ended()) === 1);
    }
  }, 240_000);

  it('every workload keeps its floor at each eviction', async () => {
    expect(await floors.breaches()).toEqual([]);
  });
});
