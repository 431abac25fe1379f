import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sizeFields, type Sizes } from '../cluster/size.ts';
import { propertyRuns } from '../testing/arbitraries.ts';
import { actuated, asks, free, patched, pods, resizable, size, surroundings } from '../testing/resizing.ts';
import { changesOf } from './change.ts';
import type { ResizeNode, ResizeSurroundings } from './guard.ts';
import type { ResizablePod } from './resizable-pod.ts';
import { qosClassOf } from './quality.ts';
import { nextStep, type ResizeAsk } from './step.ts';

const ask = (to: Sizes, more: Partial<ResizeAsk> = {}): ResizeAsk => ({
  module: 'rightsizing',
  purpose: 'size',
  to,
  originals: new Map(),
  ...more,
});
const node = (cpu: number, memory: number): ResizeNode => ({
  name: 'n1',
  leaving: false,
  allocatable: { cpu: 4_000, memory: 4_000 },
  free: { cpu, memory },
});
const two = resizable({
  app: { requests: { cpu: '100m', memory: '100' }, limits: { memory: '200' } },
  log: { requests: { cpu: '100m', memory: '100' }, limits: { memory: '200' } },
});

describe('one step of a resize', () => {
  it('carries all containers', () => {
    const to = new Map([
      ['app', size({ cpu: 50, memory: 120 })],
      ['log', size({ cpu: 200 })],
    ]);
    expect(nextStep(two, ask(to), free)).toEqual({ kind: 'send', sizes: to, held: null });
  });

  it('leaves out what is so already', () => {
    expect(nextStep(two, ask(new Map([['app', size({ cpu: 100 }, { memory: 200 })]])), free)).toEqual({
      kind: 'none',
    });
  });

  it('carries CPU while memory waits for room, and the other way round', () => {
    const to = new Map([['app', size({ cpu: 300, memory: 190 })]]);
    expect(nextStep(two, ask(to), { ...free, node: node(1_000, 10) })).toMatchObject({
      sizes: new Map([['app', size({ cpu: 300 })]]),
      held: { reason: 'NodeFull', resource: 'memory', has: 10, needed: 90 },
    });
    expect(nextStep(two, ask(to), { ...free, node: node(10, 1_000) })).toMatchObject({
      sizes: new Map([['app', size({ memory: 190 })]]),
      held: { reason: 'NodeFull', resource: 'cpu' },
    });
  });

  it('gives what it takes from one container to the other, on a full node', () => {
    const to = new Map([
      ['app', size({ cpu: 150 })],
      ['log', size({ cpu: 50 })],
    ]);
    expect(nextStep(two, ask(to), { ...free, node: node(0, 0) })).toMatchObject({ sizes: to, held: null });
  });

  it('still takes what it can from the one when the other cannot grow', () => {
    const to = new Map([
      ['app', size({ cpu: 400 })],
      ['log', size({ cpu: 50 })],
    ]);
    expect(nextStep(two, ask(to), { ...free, node: node(0, 0) })).toMatchObject({
      sizes: new Map([['log', size({ cpu: 50 })]]),
      held: { reason: 'NodeFull' },
    });
  });

  it('lowers a memory limit last and alone', () => {
    const calm = { ...free, memoryUsed: new Map([['app', 100]]) };
    const to = new Map([['app', size({ cpu: 200, memory: 90 }, { memory: 150 })]]);
    const first = nextStep(two, ask(to), calm);
    expect(first).toEqual({
      kind: 'send',
      sizes: new Map([['app', size({ cpu: 200, memory: 90 })]]),
      held: null,
    });
    const after = actuated(patched(two, first.kind === 'send' ? first.sizes : new Map()));
    expect(nextStep(after, ask(to), calm)).toMatchObject({
      sizes: new Map([['app', size({}, { memory: 150 })]]),
    });
  });

  it('moves request and limit of a Guaranteed pod together', () => {
    const same = { cpu: '1', memory: '200' };
    const pod = resizable({ app: { requests: same, limits: same } });
    const small = { cpu: 500, memory: 150 };
    const to = new Map([['app', size(small, small)]]);
    const calm = { ...free, memoryUsed: new Map([['app', 50]]) };
    expect(nextStep(pod, ask(to), calm)).toMatchObject({
      sizes: new Map([['app', size({ cpu: 500 }, { cpu: 500 })]]),
    });
    expect(nextStep(pod, ask(new Map([['app', size({ cpu: 500 })]])), calm)).toEqual({
      kind: 'held',
      hold: { reason: 'QosClass', from: 'Guaranteed', to: 'Burstable' },
    });
  });
});

/** The rules of the API server and of the kubelet, once more and from the other side. */
function faultsOf(before: ResizablePod, sent: Sizes, how: ResizeAsk, around: ResizeSurroundings): string[] {
  const after = patched(before, sent);
  const faults: string[] = [];
  const total = ({ containers }: ResizablePod, field: 'requests' | 'limits', resource: string) =>
    containers.reduce((sum, { spec }) => sum + (spec[field][resource] ?? 0), 0);
  if (qosClassOf(after.containers.map(({ spec }) => spec)) !== before.qos) faults.push('another QoS class');
  let grows = false;
  for (const [index, { name, spec, restartsFor }] of after.containers.entries()) {
    const was = before.containers[index]!.spec;
    for (const resource of ['cpu', 'memory']) {
      const limit = spec.limits[resource];
      if (limit !== undefined && (spec.requests[resource] ?? 0) > limit) faults.push('request above limit');
      for (const field of sizeFields) {
        const [from, to] = [was[field][resource], spec[field][resource]];
        if (from === to) continue;
        if (from === undefined) faults.push('an amount that cannot be removed again');
        if (restartsFor.includes(resource)) faults.push('a restart');
        grows ||= (to ?? 0) > (from ?? 0);
        const isLoan = field === 'limits' && resource === 'cpu' && around.allocationCovers(name);
        if (isLoan !== (how.module === 'allocation')) faults.push('an amount of another module');
        if (isLoan && to! < (how.originals?.get(name) ?? from ?? 0)) faults.push('below the original');
        const max = around.limitRanges[0]?.max[resource];
        if (max !== undefined && to! > max) faults.push('above the LimitRange');
      }
    }
    const [was2, memory] = [was.limits['memory'] ?? 0, spec.limits['memory'] ?? 0];
    if (memory < was2 && !around.lowersMemoryLimits) faults.push('a memory limit that cannot fall');
    const unknown = how.purpose === 'restore' ? 0 : memory;
    if (memory < was2 && (around.memoryUsed.get(name) ?? unknown) >= 0.8 * memory)
      faults.push('memory in use');
  }
  if (grows && how.purpose !== 'restore' && (around.podLeaves || around.node?.leaving === true))
    faults.push('more for a pod that goes');
  for (const resource of ['cpu', 'memory']) {
    const more = total(after, 'requests', resource) - total(before, 'requests', resource);
    if (more > 0 && around.node !== null && more > around.node.free[resource]!) faults.push('no room');
  }
  for (const [name, left] of Object.entries(around.quotas[0]?.free ?? {})) {
    const [field, resource] = name.split('.') as ['requests' | 'limits', string];
    const more = total(after, field, resource) - total(before, field, resource);
    if (more > 0 && more > left) faults.push('above the quota');
  }
  return faults;
}

const anyAsk = fc.record({
  to: asks,
  module: fc.constantFrom(
    'rightsizing' as const,
    'rightsizing' as const,
    'rightsizing' as const,
    'allocation' as const,
  ),
  purpose: fc.constantFrom('size' as const, 'size' as const, 'outOfMemory' as const, 'restore' as const),
  originals: fc.constant(new Map<string, number>()),
});

describe('of any pod, wish and surroundings', () => {
  it('nothing is sent that would be refused, deferred, or cost a container', () => {
    fc.assert(
      fc.property(pods, anyAsk, surroundings, (pod, how, around) => {
        const step = nextStep(pod, how, around);
        if (step.kind !== 'send') return;
        expect(faultsOf(pod, step.sizes, how, around)).toEqual([]);
      }),
      propertyRuns,
    );
  });

  it('steps end: each is part of the wish, and after four at most there is none, or a reason', () => {
    fc.assert(
      fc.property(pods, anyAsk, surroundings, (pod, how, around) => {
        let now = pod;
        for (let steps = 0; ; steps++) {
          const step = nextStep(now, how, around);
          if (step.kind !== 'send') {
            expect(step.kind).toBe(changesOf(now, how.to).length === 0 ? 'none' : 'held');
            break;
          }
          expect(steps).toBeLessThan(4);
          const before = changesOf(now, how.to).length;
          now = actuated(patched(now, step.sizes));
          expect(changesOf(now, how.to).length).toBeLessThan(before);
        }
      }),
      propertyRuns,
    );
  });
});
