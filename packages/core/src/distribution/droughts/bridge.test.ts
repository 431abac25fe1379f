import { describe, expect, it } from '@jest/globals';
import { explainRebalance } from '../explain/rebalance.ts';
import { podKeys } from '../../policy/keys.ts';
import { decide } from '../moves/decide.ts';
import type { Nodes } from '../../cluster/node.ts';
import type { PodVolumes, WorkloadPod } from '../../cluster/workload-pod.ts';
import type { DroughtState, RebalanceSnapshot } from '../moves/snapshot.ts';
import {
  altered,
  annotated,
  bothNodes,
  deploymentOf,
  node,
  nodesOf,
  NOON,
  pod,
  podsOf,
  policy,
  quiet,
  revision,
  settings,
  snapshot,
  template,
} from '../../testing/rebalance.ts';
import { unschedulableSince } from '../../cluster/unschedulable.ts';
import type { Wait } from './waiting.ts';

const numbers = { spotPercentage: 70, minOnDemand: 1 };
const onlyOnDemand = nodesOf(node('od-1', 'on-demand'));

/** Seven of ten pods wait for spot capacity, which there is none of, for as long as this. */
function stuckFor(waitedMs: number, change: Partial<RebalanceSnapshot> = {}): RebalanceSnapshot {
  const pods = podsOf(7, 3, numbers).map((one) =>
    one.name.startsWith('s')
      ? altered(one, {
          nodeName: null,
          ready: false,
          phase: 'Pending',
          unschedulableSinceMs: NOON - waitedMs,
          createdAtMs: NOON - waitedMs,
        })
      : one,
  );
  return snapshot({ pods, workload: deploymentOf(pods), nodes: onlyOnDemand, ...change });
}

const watched = (change: Partial<typeof quiet>): { drought: DroughtState } => ({
  drought: { ...quiet, ...change },
});
const open = { state: 'open', sinceMs: 0, openedAtMs: NOON - 1_000, backoffMs: 60_000, early: true } as const;
const removed = (one: RebalanceSnapshot): number => {
  const { verdict } = decide(one, NOON);
  return verdict.kind === 'bridge' ? verdict.remove.length : 0;
};

describe('pods that wait for spot capacity', () => {
  it('are all replaced when the first has waited long enough', () => {
    const trace = decide(stuckFor(120_000), NOON);
    expect(trace).toMatchObject({
      reason: 'FallbackStarted',
      drought: 'closed',
      verdict: { kind: 'bridge', next: { breaker: { state: 'open', early: true }, permits: 0 } },
      facts: { waiting: 7, removed: 7, told: false },
    });
    expect(removed(stuckFor(120_000))).toBe(7);
  });

  it('are replaced although they take a port of their node, which an empty one has', () => {
    const taking = (one: RebalanceSnapshot): RebalanceSnapshot => {
      const revisions = [revision(10, { template: { ...template, hostPort: true } })];
      return { ...one, workload: deploymentOf(one.pods, { revisions }) };
    };
    expect(removed(taking(stuckFor(120_000)))).toBe(7);
  });

  it('are replaced before the annotation of another pod is corrected, which somebody may refuse for ever', () => {
    const one = stuckFor(120_000);
    const pods = one.pods.map((each) =>
      each.name === 'o2' ? annotated(each, { [podKeys.capacityType]: 'spot' }) : each,
    );
    const beside = { ...one, pods, workload: deploymentOf(pods) };
    expect(decide(beside, NOON)).toMatchObject({ reason: 'FallbackStarted', facts: { removed: 7 } });
    const deferral = {
      reason: 'BudgetSpent',
      budget: 'removals',
      used: 5,
      limit: 5,
      untilMs: NOON + 9,
    } as const;
    const spent = watched({ breaker: open, deferral });
    expect(decide({ ...beside, ...spent }, NOON).reason).toBe('NodeDiffers');
  });

  it('are waited for until then, which is said', () => {
    expect(decide(stuckFor(100_000), NOON)).toMatchObject({
      reason: 'AwaitingSpot',
      verdict: { kind: 'wait', untilMs: NOON + 20_000 },
    });
  });

  it('are not said to be waited for where something holds what would replace them', () => {
    const ledger = { kind: 'unreachable', code: 'X' } as const;
    const drought = { kind: 'told', report: null, poolIsOpen: false } as const;
    expect(decide(stuckFor(100_000, { ledger, drought }), NOON).reason).toBe('LedgerUnreachable');
  });

  it('are replaced at once when the breaker is open, or that of the placement, or most nodes were told to go', () => {
    expect(removed(stuckFor(0, watched({ breaker: open })))).toBe(7);
    expect(removed(stuckFor(0, watched({ pool: { kind: 'open' } })))).toBe(7);
    const leaving = ['a', 'b', 'c'].map((name) =>
      node(name, 'spot', {
        taints: [{ key: 'aws-node-termination-handler/spot-itn', effect: 'NoSchedule' }],
      }),
    );
    expect(removed(stuckFor(0, { nodes: nodesOf(node('od-1', 'on-demand'), ...leaving) }))).toBe(7);
  });

  it('wait their own time when they came after the breaker had opened', () => {
    const late = watched({ breaker: { ...open, openedAtMs: NOON - 60_000 } });
    expect(removed(stuckFor(10_000, late))).toBe(0);
    expect(removed(stuckFor(120_000, late))).toBe(7);
  });

  it('wait for the budget of removals when they were deferred, and the breaker does not', () => {
    const deferral = {
      reason: 'BudgetSpent',
      budget: 'removals',
      used: 5,
      limit: 5,
      untilMs: NOON + 9,
    } as const;
    expect(decide(stuckFor(120_000, watched({ breaker: open, deferral })), NOON)).toMatchObject({
      reason: 'BudgetSpent',
      facts: { budget: 'removals', used: 5, limit: 5 },
      verdict: { kind: 'wait', untilMs: NOON + 9 },
    });
    expect(decide(stuckFor(120_000, watched({ deferral })), NOON).reason).toBe('FallbackStarted');
  });

  it.each([
    ['unmanaged', { managed: { managed: false, reason: 'NotLabelled' } }],
    ['of an invalid policy', { policy: { kind: 'frozen', numbers, problems: [] } }],
    ['paused', { policy: policy(70, 1, { paused: true }) }],
    ['looked at in read-only mode', { settings: { ...settings, readOnly: true } }],
    ['without a ledger', { ledger: { kind: 'unreachable', code: 'X' } }],
    ['without a webhook', { webhook: { kind: 'notServing', detail: 'x' } }],
    ['told never to be replaced', { policy: policy(70, 1, { fallbackAfterMs: 'never' }) }],
    ['in nobody’s watch', { drought: { kind: 'unwatched' } }],
    ['only told of', { drought: { kind: 'told', report: null, poolIsOpen: false } }],
    ['without a breaker that admissions could see', { drought: { kind: 'unbridgeable' } }],
  ] satisfies readonly (readonly [string, Partial<RebalanceSnapshot>])[])('stay when %s', (_, change) => {
    expect(removed(stuckFor(1e6, change))).toBe(0);
  });

  it('are said to wait by who only hears of droughts, and goes by the nodes there are', () => {
    const drought = { kind: 'told', report: null, poolIsOpen: false } as const;
    expect(decide(stuckFor(60_000, { drought }), NOON)).toMatchObject({
      reason: 'AwaitingSpot',
      drought: 'closed',
      facts: { waiting: 7, until: 'substitutes' },
    });
  });

  it('are told of where nothing can replace them, once they have waited long enough', () => {
    const drought = { kind: 'unbridgeable' } as const;
    expect(decide(stuckFor(120_000, { drought }), NOON)).toMatchObject({
      reason: 'NoFallback',
      facts: { waiting: 7 },
    });
    expect(decide(stuckFor(119_999, { drought }), NOON)).toMatchObject({
      reason: 'AwaitingSpot',
      facts: { until: 'fault' },
    });
    const never = policy(70, 1, { fallbackAfterMs: 'never' });
    expect(decide(stuckFor(120_000, { drought, policy: never }), NOON)).toMatchObject({
      reason: 'AwaitingSpot',
      facts: { until: 'spot' },
    });
  });

  it('are no drought when no node could ever take them', () => {
    const huge = { ...template, requests: { cpu: 1e6 } };
    const one = stuckFor(1e6);
    const workload = deploymentOf(one.pods, { revisions: [revision(10, { template: huge })] });
    expect(removed({ ...one, workload })).toBe(0);
  });

  it('are judged by on-demand nodes where no spot node was ever seen', () => {
    expect(removed(stuckFor(1e6, watched({ shapes: onlyOnDemand })))).toBe(7);
    expect(removed(stuckFor(1e6, watched({ shapes: nodesOf() })))).toBe(0);
  });

  it('are judged by on-demand nodes as well where spot nodes are known, and none that they could ever run on', () => {
    const pool = { 'example.com/pool': 'b' };
    const inPool = (one: RebalanceSnapshot): RebalanceSnapshot => {
      const revisions = [revision(10, { template: { ...template, spec: { nodeSelector: pool } } })];
      return { ...one, workload: deploymentOf(one.pods, { revisions }) };
    };
    const elsewhere = node('spot-1', 'spot');
    const shapes = nodesOf(elsewhere, node('od-1', 'on-demand', { labels: pool }));
    expect(removed(inPool(stuckFor(3_600_000, watched({ shapes }))))).toBe(7);
    const nowhere = nodesOf(elsewhere, node('od-1', 'on-demand'));
    expect(removed(inPool(stuckFor(3_600_000, watched({ shapes: nowhere }))))).toBe(0);
  });

  it('stay when their own affinity rules out on-demand: they would come back as they are', () => {
    const requirement = { key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['spot'] };
    const affinity = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [requirement] }],
        },
      },
    };
    const one = stuckFor(1e6);
    const pinned = { ...template, spec: { affinity } };
    const workload = deploymentOf(one.pods, { revisions: [revision(10, { template: pinned })] });
    expect(removed({ ...one, workload })).toBe(0);
  });
});

const unreachable: PodVolumes = {
  kind: 'bound',
  affinities: [[{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }]],
};

describe('pods that no substitute would help', () => {
  const MINUTE_MS = 60_000;
  /** One of ten, of which the counts are right. */
  const waits = (change: Partial<WorkloadPod>, more: Partial<RebalanceSnapshot> = {}): RebalanceSnapshot => {
    const pods = podsOf(7, 3, numbers).map((one) =>
      one.name === 's6'
        ? altered(one, {
            nodeName: null,
            ready: false,
            phase: 'Pending',
            createdAtMs: NOON - MINUTE_MS,
            ...change,
          })
        : one,
    );
    return snapshot({ pods, workload: deploymentOf(pods), ...more });
  };
  const since = { unschedulableSinceMs: NOON - MINUTE_MS };
  const huge = { revisions: [revision(10, { template: { ...template, requests: { cpu: 1e6 } } })] };

  it.each<[Wait, RebalanceSnapshot]>([
    ['SchedulingGate', waits({ holdup: 'SchedulingGate' })],
    ['Volume', waits({ holdup: 'Volume' })],
    ['Preemption', waits({ holdup: 'Preemption' })],
    ['Scheduler', waits({})],
    ['AnyNode', waits({ ...since, controller: { kind: 'ReplicaSet', uid: 'rs-2' } })],
    ['NoSuchNode', { ...waits(since), workload: deploymentOf(waits(since).pods, huge) }],
    ['VolumeUnreachable', waits({ ...since, volumes: unreachable })],
  ])('are reported after a minute: %s', (wait, one) => {
    const found = wait === 'AnyNode' ? { ...one, workload: withOldRevision(one) } : one;
    const trace = decide(found, NOON);
    expect(trace).toMatchObject({ reason: 'PodsUnscheduled', facts: { waits: { [wait]: 1 } } });
    expect(trace.waiting).toEqual({ [wait]: 1 });
    expect(decide(found, NOON - 1)).toMatchObject({
      reason: 'Balanced',
      verdict: { kind: 'wait', untilMs: NOON },
      waiting: {},
    });
  });

  /** Pods of it are left, and none is wanted any more. */
  function withOldRevision({ pods }: RebalanceSnapshot) {
    const old = revision(0, { uid: 'rs-2', name: 'web-r2' });
    const { revisions } = deploymentOf(pods);
    return deploymentOf(pods, { revisions: [...revisions, old] });
  }

  it('are said beside whatever else is reported', () => {
    const one = waits({ holdup: 'SchedulingGate' }, { policy: policy(50, 1) });
    const trace = decide(one, NOON);
    expect(trace.verdict.kind).toBe('move');
    expect(explainRebalance(trace)).toMatch(
      /\. Without a node for more than a minute: 1 pod with a scheduling gate that nobody has lifted\.$/,
    );
  });
});

describe('substitutes', () => {
  const substitutes = podsOf(0, 10, numbers).map((one, index) =>
    index < 7 ? annotated(one, { [podKeys.substitute]: 'true' }) : one,
  );
  const bridged = (change: Partial<RebalanceSnapshot>): RebalanceSnapshot =>
    snapshot({ pods: substitutes, workload: deploymentOf(substitutes), nodes: onlyOnDemand, ...change });
  const halfOpen = { state: 'half-open', sinceMs: 0, probedAtMs: 0, backoffMs: 1, proven: true } as const;

  it('stay while the breaker is open', () => {
    expect(decide(bridged(watched({ breaker: open })), NOON)).toMatchObject({
      reason: 'InDrought',
      verdict: { kind: 'wait', untilMs: NOON + 59_000 },
    });
  });

  it('are moved back one by one, each with a permit', () => {
    const permit = { permits: 1, takenAtMs: null };
    const armed = { nodes: bothNodes, ...watched({ breaker: halfOpen, permit }) };
    expect(decide(bridged(armed), NOON)).toMatchObject({
      reason: 'OnDemandSurplus',
      verdict: { kind: 'move' },
    });
    const used = watched({ breaker: halfOpen, permit: { permits: 0, takenAtMs: NOON } });
    expect(decide(bridged({ nodes: bothNodes, ...used }), NOON)).toMatchObject({
      reason: 'ReturnGoesOn',
      verdict: { kind: 'bridge', next: { permits: 1 }, remove: [] },
    });
    expect(decide(bridged(used), NOON).reason).toBe('ReturnUnderWay');
  });

  it.each<[string, Partial<WorkloadPod>]>([
    ['a volume', { holdup: 'Volume' }],
    ['a scheduling gate', { holdup: 'SchedulingGate' }],
    ['a node that nobody ever had', { unschedulableSinceMs: NOON - 3_600_000, volumes: unreachable }],
    ['a scheduler that has forgotten it', {}],
  ])('are moved back although a spot pod beside them waits for %s', (_what, waits) => {
    const bystander = altered(pod('s0', { numbers }), {
      nodeName: null,
      ready: false,
      phase: 'Pending',
      createdAtMs: NOON - 3_600_000,
      ...waits,
    });
    const pods = [bystander, ...substitutes.slice(1)];
    const one = (nodes: Nodes) =>
      bridged({
        pods,
        workload: deploymentOf(pods),
        nodes,
        ...watched({
          breaker: { ...halfOpen, proven: false },
          permit: { permits: 0, takenAtMs: NOON - 1_000_000 },
        }),
      });
    expect(decide(one(bothNodes), NOON)).toMatchObject({
      reason: 'ReturnGoesOn',
      verdict: { kind: 'bridge', next: { permits: 1 } },
    });
    expect(explainRebalance(decide(one(bothNodes), NOON))).toContain(
      'Without a node for more than a minute: 1 pod',
    );
    // Without room it is the next admission that shows.
    expect(decide(one(onlyOnDemand), NOON)).toMatchObject({
      verdict: { kind: 'bridge', next: { permits: 1 } },
    });
  });

  it('tell of a drought that the ledger has lost', () => {
    expect(decide(bridged(watched({ recorded: false })), NOON).reason).toBe('FallbackFound');
  });

  it('that are left of one that the ledger knows to be over tell nothing', () => {
    expect(decide(bridged(watched({ recorded: true })), NOON).reason).toBe('NoCapacity');
  });

  it('tell nothing while a pod beside them is only being replaced', () => {
    const workload = { ...deploymentOf(substitutes), replicas: 11 };
    expect(decide(bridged({ ...watched({ recorded: false }), workload }), NOON).drought).toBe('closed');
    expect(decide(bridged({ ...watched({ recorded: false }), workload }), NOON).reason).not.toBe(
      'FallbackFound',
    );
  });

  it('stay where there is no room for them, whatever the breaker says', () => {
    const permit = { permits: 1, takenAtMs: null };
    expect(decide(bridged(watched({ breaker: halfOpen, permit })), NOON).reason).toBe('NoCapacity');
  });
});

describe('on-demand pods without a node', () => {
  it('are reported and nothing else', () => {
    const pods = podsOf(7, 3, numbers).map((one) =>
      one.name === 'o1'
        ? altered(one, { nodeName: null, ready: false, unschedulableSinceMs: NOON - 1e6 })
        : one,
    );
    expect(decide(snapshot({ pods, workload: deploymentOf(pods) }), NOON)).toMatchObject({
      reason: 'OnDemandShort',
      facts: { waiting: 1, scheduled: 2, floor: 1 },
      verdict: { kind: 'nothing' },
    });
  });

  it('are reported as well while costs wait for the workload to settle', () => {
    const pods = podsOf(7, 3, { spotPercentage: 20, minOnDemand: 5 }).map((one) =>
      one.name === 'o1'
        ? altered(one, { nodeName: null, ready: false, unschedulableSinceMs: NOON - 1e6 })
        : one,
    );
    const workload = deploymentOf(pods, { podGoneAtMs: NOON - 1_000 });
    expect(decide(snapshot({ pods, workload }), NOON).reason).toBe('OnDemandShort');
    expect(decide(snapshot({ pods }), NOON).reason).toBe('CostOrder');
  });
});

describe('a pod is unschedulable', () => {
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: '0/3 nodes are available',
    lastTransitionTime: '2026-04-15T12:00:00Z',
  };
  const since = (status: object, spec: object = {}) =>
    unschedulableSince({ spec, status: { conditions: [condition], ...status } });

  it('since the scheduler said so', () => {
    expect(since({})).toBe(NOON);
  });

  it('not while it is held back, waits for a preemption or a volume, or has a node', () => {
    expect(since({}, { schedulingGates: [{ name: 'quota' }] })).toBeNull();
    expect(since({}, { nodeName: 'n' })).toBeNull();
    expect(since({ nominatedNodeName: 'n' })).toBeNull();
    expect(since({ conditions: [{ ...condition, reason: 'SchedulingGated' }] })).toBeNull();
    const message = '0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.';
    expect(since({ conditions: [{ ...condition, message }] })).toBeNull();
  });
});
