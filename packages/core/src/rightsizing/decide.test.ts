import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  actingWith,
  nextSnapshot,
  podWith,
  snapshots,
  snapshotWith,
  storedStatus,
} from '../testing/rightsizing.ts';
import { HOUR_MS, MiB, NOON_MS, usageWith } from '../testing/usage.ts';
import { sizeAfter } from '../resize/change.ts';
import { qosClassOf } from '../resize/quality.ts';
import { decideSizes } from './decide.ts';
import { readMemory } from './memory.ts';
import { rightsizingReasons } from './reason.ts';
import type { RightsizingSnapshot } from './snapshot.ts';

const decide = (snapshot: RightsizingSnapshot) => decideSizes(snapshot, NOON_MS);
const runs = { numRuns: 200 };

function withSizing(snapshot: RightsizingSnapshot, more: object): RightsizingSnapshot {
  const { policy } = snapshot;
  if (policy.kind === 'none') return snapshot;
  return { ...snapshot, policy: { ...policy, sizing: { ...policy.sizing, ...more } } };
}
const resizes = (snapshot: RightsizingSnapshot) =>
  decide(snapshot).intents.flatMap((intent) => (intent.kind === 'resize' ? [intent] : []));

describe('a decision about sizes', () => {
  it('Properties 10, 23: has a status with every container and both times, which the API server takes', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { status, trace } = decide({ ...snapshot, lastAppliedMs: NOON_MS });
        const stored = status && storedStatus(status);
        expect(stored?.lastRecommendation).toBe('2026-06-10T12:00:00Z');
        expect(stored?.lastApplied).toBe('2026-06-10T12:00:00Z');
        expect(stored?.containers?.map(({ name }) => name)).toEqual(['app']);
        const [container] = trace.containers;
        if (container?.usage)
          expect(stored?.containers?.[0]?.recommendation).toMatchObject({
            cpu: expect.any(String),
            memory: expect.any(String),
          });
      }),
      runs,
    );
  });

  it('Property 3: changes no limit while only requests may change', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        for (const { to } of resizes(withSizing(snapshot, { limits: null })))
          for (const { limits } of to.values()) expect(limits).toEqual({});
      }),
      runs,
    );
  });

  it('Property 6: recreates only where the policy allows it, and else says so', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { intents, trace } = decide(withSizing(snapshot, { recreate: false }));
        expect(intents.filter(({ kind }) => kind === 'evict')).toEqual([]);
        for (const { obstacle, reason, changes } of trace.pods)
          if (obstacle !== null && changes.length > 0) expect(reason).toBe('RecreateNotAllowed');
      }),
      runs,
    );
    expect(rightsizingReasons.RecreateNotAllowed.alerts).toBe('Warning');
  });

  it('Property 7: changes no request without usage', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { trace, intents } = decide({ ...snapshot, usage: new Map() });
        for (const { requests, before, target } of trace.containers) {
          expect(requests.cpu.reason).toBe('MissingMetrics');
          expect(target.requests['cpu']).toBe(before.requests['cpu']);
        }
        for (const intent of intents)
          if (intent.kind === 'resize')
            for (const { requests } of intent.to.values()) expect(requests).toEqual({});
      }),
      runs,
    );
  });

  it.each([
    ['Properties 8, 18: in Recommend mode', { mode: 'Recommend' }, {}, 'RecommendOnly'],
    ['Property 29: in a dry run', {}, { dryRun: true }, 'DryRun'],
    ['Property 28: without the right', {}, { forbidden: true }, 'Forbidden'],
  ] as const)('%s writes the status alone', (_, sizing, more, reason) => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { status, intents, template, trace } = decide({ ...withSizing(snapshot, sizing), ...more });
        expect({ intents, template, applies: trace.applies }).toEqual({
          intents: [],
          template: null,
          applies: false,
        });
        expect(trace.reason).toBe(reason);
        expect(status).toMatchObject({ apply: false, lastRecommendation: '2026-06-10T12:00:00Z' });
      }),
      runs,
    );
  });

  it('Property 9: in Recommend mode refreshes the recommendation on each cycle', () => {
    fc.assert(
      fc.property(snapshots, fc.nat(10_000), (snapshot, seconds) => {
        const later = decideSizes(withSizing(snapshot, { mode: 'Recommend' }), NOON_MS + seconds * 1000);
        expect(Date.parse(later.status?.lastRecommendation ?? '')).toBe(NOON_MS + seconds * 1000);
      }),
      runs,
    );
  });

  it('Property 19: while Disabled, or read-only, leaves the status as it is', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        expect(decide(withSizing(snapshot, { mode: 'Disabled' }))).toMatchObject({
          status: null,
          intents: [],
        });
        expect(decide({ ...snapshot, readOnly: true })).toMatchObject({ status: null, intents: [] });
      }),
      runs,
    );
  });

  it('Properties 20, 21: resizes in place where that is possible and allowed', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const policy = snapshot.policy.kind === 'acting' ? snapshot.policy.sizing : null;
        for (const { reason, obstacle } of decide(snapshot).trace.pods) {
          if (reason === 'Resizing') expect(policy?.inPlace && snapshot.resizeSupported).toBe(true);
          if (obstacle === 'Unsupported') expect(policy?.inPlace).toBe(true);
        }
        const ideal = withSizing({ ...snapshot, resizeSupported: true }, { inPlace: true });
        const pods = snapshot.pods.map((each) => podWith(each.pod.name, { cpu: 7, memory: 9 }));
        for (const { reason } of decide({ ...ideal, pods }).trace.pods)
          expect(['Resizing', 'PodBudgetSpent', 'AtTarget']).toContain(reason);
      }),
      runs,
    );
  });

  it('Property 22: never evicts a pod to shrink it where it can be resized in place', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { intents, trace } = decide({ ...snapshot, resizeSupported: true });
        for (const intent of intents) {
          if (intent.kind !== 'evict') continue;
          const pod = trace.pods.find(({ uid }) => uid === intent.pod.uid);
          expect(pod?.changes.some(({ from, to }) => to > (from ?? 0))).toBe(true);
        }
      }),
      runs,
    );
  });

  it('Property 24: gives every amount and every pod a reason', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { trace } = decide(snapshot);
        for (const { requests } of trace.containers)
          for (const { reason } of [requests.cpu, requests.memory])
            expect(rightsizingReasons[reason].means).not.toBe('');
        for (const { reason, changes } of trace.pods)
          if (changes.length > 0) expect(reason).not.toBe('AtTarget');
        expect(trace.pods.length).toBe(snapshot.pods.length);
      }),
      runs,
    );
  });

  it('Property 17: after its pods have what was asked for, asks for nothing more', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const all = withSizing(
          { ...snapshot, resizeSupported: true, pods: [podWith('web-1')] },
          { inPlace: true, maxConcurrentPods: '100%' },
        );
        const first = decide(all);
        const [intent] = first.intents;
        if (intent?.kind !== 'resize') return;
        const [one] = all.pods;
        const to = intent.to.get('app');
        const containers = (one?.pod.containers ?? []).map((each) => ({
          ...each,
          spec: {
            requests: { ...each.spec.requests, ...to?.requests },
            limits: { ...each.spec.limits, ...to?.limits },
          },
        }));
        const pods = one === undefined ? [] : [{ ...one, pod: { ...one.pod, containers } }];
        const again = decide(nextSnapshot(all, first.status, { pods }));
        expect(again.intents).toEqual([]);
      }),
      runs,
    );
  });

  it('Property 31: goes on from the stored status as if it had never stopped', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { status, trace } = decide(snapshot);
        if (status === null) return;
        const [memory] = readMemory(storedStatus(status)).values();
        const [container] = trace.containers;
        expect(memory).toEqual(container?.memory);
      }),
      runs,
    );
  });

  it('N1: never lowers a target after everything but the status is lost, until there is history again', () => {
    fc.assert(
      fc.property(snapshots, fc.nat(23), (snapshot, hours) => {
        const first = decide(withSizing(snapshot, { minHistoryMs: 24 * HOUR_MS, limits: null }));
        const short = [...snapshot.usage].map(
          ([name, usage]) => [name, { ...usage, spanMs: hours * HOUR_MS }] as const,
        );
        const next = nextSnapshot(snapshot, first.status, { usage: new Map(short) });
        const second = decide(withSizing(next, { minHistoryMs: 24 * HOUR_MS, limits: null }));
        for (const { before, target } of second.trace.containers)
          for (const resource of ['cpu', 'memory'])
            expect(target.requests[resource]).toBeGreaterThanOrEqual(before.requests[resource] ?? 0);
      }),
      runs,
    );
  });

  it('N2: keeps each request within its limit', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        for (const { target } of decide(snapshot).trace.containers)
          for (const resource of ['cpu', 'memory'])
            expect(target.requests[resource]).toBeLessThanOrEqual(target.limits[resource] ?? Infinity);
      }),
      runs,
    );
  });

  it('N4: asks for all of a pod at once, and keeps its class and its keys', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { intents } = decide(withSizing({ ...snapshot, resizeSupported: true }, { inPlace: true }));
        expect(new Set(intents.map(({ id }) => id)).size).toBe(intents.length);
        for (const intent of intents) {
          const sized = snapshot.pods.find(
            ({ pod }) => intent.kind === 'resize' && pod.uid === intent.pod.uid,
          );
          if (intent.kind !== 'resize' || sized === undefined) continue;
          const after = sized.pod.containers.map((each) => sizeAfter(each, intent.to.get(each.name)));
          expect(qosClassOf(after)).toBe(sized.pod.qos);
          for (const { requests, limits } of after) {
            expect([Object.keys(requests), Object.keys(limits)]).toEqual([
              ['cpu', 'memory'],
              ['cpu', 'memory'],
            ]);
            for (const resource of ['cpu', 'memory'])
              expect(requests[resource]).toBeLessThanOrEqual(limits[resource] ?? 0);
          }
        }
      }),
      runs,
    );
  });

  it('N6: raises a limit by itself after an OOM, never lowers one, and never adds one', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const raising = withSizing(snapshot, {
          limits: {
            cpu: 'RaiseOnly',
            memory: 'RaiseOnly',
            multiplier: { cpu: 1, memory: 1.1 },
            maxGrowth: null,
            oom: { ratio: 1.2, minBump: 100 * MiB, keepMs: 168 * HOUR_MS },
            canary: { percent: 100, observeMs: 24 * HOUR_MS, autoRevert: true },
          },
        });
        const burstable = raising.template.some(({ size }) => size.requests.cpu !== size.limits.cpu);
        if (!burstable) return;
        for (const { before, target } of decide(raising).trace.containers) {
          expect(Object.keys(target.limits)).toEqual(Object.keys(before.limits));
          for (const resource of ['cpu', 'memory'])
            expect(target.limits[resource]).toBeGreaterThanOrEqual(before.limits[resource] ?? 0);
        }
      }),
      runs,
    );
    const incidents = new Map([['app', { oomAtMs: NOON_MS - 1000, evicted: null }]]);
    const pods = [podWith('web-1'), podWith('web-2', {}, { outOfMemory: new Set(['app']) })];
    const policy = actingWith({ updateStrategy: { updateRequestsOnly: false } });
    const snapshot = snapshotWith({ policy, incidents, pods, usage: new Map() });
    const { intents, status, trace } = decide(snapshot);
    expect(intents).toMatchObject([{ kind: 'resize', purpose: 'outOfMemory', pod: { name: 'web-2' } }]);
    expect(trace.reason).toBe('MissingMetrics');
    // The same OOM counts once.
    const again = decide(nextSnapshot(snapshot, status));
    expect(again.trace.containers[0]?.target.limits['memory']).toBe(Math.ceil(2048 * 1.2 * MiB));
    expect(decide({ ...snapshot, policy: actingWith() }).trace.containers[0]?.limits.memory).toMatchObject({
      reason: 'LimitTooLow',
      limit: 2048 * MiB,
      needed: Math.ceil(2048 * 1.2 * MiB),
    });
  });

  it('N9: leaves alone what an autoscaler scales on', () => {
    const scaled = snapshotWith({ scaledOn: new Set(['cpu']) });
    const { trace, intents } = decide(scaled);
    expect(trace.containers[0]?.requests.cpu.reason).toBe('HPAOnCPU');
    for (const intent of intents)
      if (intent.kind === 'resize')
        for (const { requests } of intent.to.values()) expect(Object.keys(requests)).toEqual(['memory']);
  });

  it('sizes a workload that requests too much, within its budget of pods', () => {
    const { trace, intents, status } = decide(snapshotWith());
    expect(intents).toMatchObject([{ kind: 'resize', purpose: 'size', pod: { name: 'web-1' } }]);
    expect(trace.pods.map(({ reason }) => reason)).toEqual(['Resizing', 'PodBudgetSpent']);
    expect(status).toMatchObject({ state: 'Applying', total: { cpu: '480m', memory: '400Mi' } });
  });

  it('sizes both amounts of a Guaranteed pod together, and none where limits stay', () => {
    const size = { requests: { cpu: 1000, memory: 1024 * MiB }, limits: { cpu: 1000, memory: 1024 * MiB } };
    const template = [{ name: 'app', kind: 'container', size } as const];
    const pods = [podWith('web-1', { cpuLimit: 1000, memoryLimit: 1024 })];
    const held = decide(snapshotWith({ template, pods }));
    expect(held.trace.containers[0]?.requests.cpu.reason).toBe('QoSGuaranteed');
    expect(held.intents).toEqual([]);
    const policy = actingWith({ updateStrategy: { updateRequestsOnly: false } });
    const [intent] = decide(snapshotWith({ template, pods, policy })).intents;
    const to = intent?.kind === 'resize' ? intent.to.get('app') : undefined;
    expect(to).toEqual({
      requests: { cpu: 480, memory: 480 * MiB },
      limits: { cpu: 480, memory: 480 * MiB },
    });
  });

  it('begins again with the requests of a new revision, and lowers nothing for a while', () => {
    const first = decide(snapshotWith());
    const size = { requests: { cpu: 2000, memory: 1024 * MiB }, limits: { cpu: 4000, memory: 2048 * MiB } };
    const template = [{ name: 'app', kind: 'container', size } as const];
    const next = decide(nextSnapshot(snapshotWith({ template }), first.status));
    expect(next.trace.containers[0]).toMatchObject({
      templateChanged: true,
      target: { requests: { cpu: 2000 } },
    });
    expect(next.trace.containers[0]?.requests.cpu.reason).toBe('LowHistory');
  });

  it('raises a limit that follows with its request, also while a lower one is tried', () => {
    const updateStrategy = { updateRequestsOnly: false, limitConfig: { mode: 'Follow' } };
    const policy = actingWith({ updateStrategy });
    const first = decide(snapshotWith({ policy }));
    expect(first.trace.containers[0]?.memory.limits.canary).not.toBeNull();
    const hot = usageWith({ memory: { P50: 1500 * MiB, P90: 2500 * MiB, P99: 3000 * MiB } });
    const next = nextSnapshot(snapshotWith({ policy, usage: new Map([['app', hot]]) }), first.status);
    const [container] = decide(next).trace.containers;
    // With both limits at their requests the pod would be Guaranteed, so one is a byte less.
    expect(container?.target.requests['memory']).toBe(3000 * MiB - 1);
    expect(container?.target.limits['memory']).toBe(3000 * MiB);
    expect(container?.memory.limits.canary).toBeNull();
  });

  it('N7: sizes a pod by its own usage where that is known', () => {
    const policy = actingWith({ metricsConfig: { aggregation: 'PerPod' } });
    const cool = usageWith({ cpu: { P50: 50, P90: 100, P99: 120 } });
    const pods = [podWith('web-1', {}, { own: new Map([['app', cool]]) })];
    const [intent] = decide(snapshotWith({ policy, pods })).intents;
    const to = intent?.kind === 'resize' ? intent.to.get('app') : undefined;
    expect(to?.requests['cpu']).toBe(120);
  });
});
