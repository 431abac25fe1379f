import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../testing/arbitraries.ts';
import { actuated, asks, patched, pods, resizable, size } from '../testing/resizing.ts';
import { changesOf, sizesOf } from './change.ts';
import type { ResizablePod } from './resizable-pod.ts';
import { agreedSizes, pendingSizes, progressOf, type ResizeProgress, verdictOf } from './progress.ts';

const MIB = 2 ** 20;
const before = resizable({
  app: { requests: { cpu: '100m', memory: '100Mi' }, limits: { cpu: '1', memory: '200Mi' } },
});
const sent = new Map([['app', size({ cpu: 200 }, { cpu: 1_500 })]]);
const asked: ResizablePod = { ...patched(before, sent), observedGeneration: 1, generation: 1 };
const condition = (reason: string) => ({ reason, message: 'why' });

describe('the progress of a resize', () => {
  it.each<[string, Partial<ResizablePod>, ResizeProgress]>([
    ['is under way until the kubelet has seen it', { generation: 2 }, { kind: 'underWay' }],
    ['is under way until the runtime has it', {}, { kind: 'underWay' }],
    ['is under way while the kubelet is at it', { inProgress: condition('') }, { kind: 'underWay' }],
    ['is deferred', { pending: condition('Deferred') }, { kind: 'deferred', message: 'why' }],
    ['is infeasible', { pending: condition('Infeasible') }, { kind: 'infeasible', message: 'why' }],
    ['fails', { inProgress: condition('Error') }, { kind: 'failing', message: 'why' }],
    ['ends with the pod', { terminating: true }, { kind: 'ended' }],
    ['ends with its containers', { phase: 'Failed' }, { kind: 'ended' }],
  ])('%s', (_what, now, progress) => {
    expect(progressOf({ ...asked, ...now }, sent)).toEqual(progress);
  });

  it('is overwritten when the spec is another one', () => {
    expect(progressOf(before, sent)).toEqual({ kind: 'overwritten' });
  });

  it('is done when the containers have it, and not while a condition of an older time is there', () => {
    expect(progressOf(actuated(asked), sent)).toEqual({ kind: 'done' });
    expect(progressOf({ ...actuated(asked), pending: condition('Deferred') }, sent).kind).toBe('deferred');
  });

  it('is done without allocated resources and generations, which old servers do not have', () => {
    const done = actuated(asked);
    const containers = done.containers.map((one) => ({ ...one, allocated: null }));
    expect(progressOf({ ...done, generation: null, observedGeneration: null, containers }, sent).kind).toBe(
      'done',
    );
  });

  it.each([
    ['cpu', 1_504, 'done'],
    ['cpu', 1_530, 'underWay'],
    ['memory', 200 * MIB - 4_096, 'done'],
    ['memory', 200 * MIB - 8_192, 'underWay'],
  ])('takes a rounded %s of %d as %s', (resource, amount, kind) => {
    const wanted = new Map([['app', size({}, { cpu: 1_500, memory: 200 * MIB })]]);
    const done = actuated(patched(before, wanted));
    const [app] = done.containers;
    const actual = { requests: app!.spec.requests, limits: { ...app!.spec.limits, [resource]: amount } };
    expect(progressOf({ ...done, containers: [{ ...app!, actual }] }, wanted).kind).toBe(kind);
  });
});

describe('a resize that does not come about', () => {
  it.each<[ResizeProgress, number, string]>([
    [{ kind: 'deferred', message: 'full' }, 60_000, 'Deferred'],
    [{ kind: 'failing', message: 'in use' }, 120_000, 'NotApplied'],
    [{ kind: 'underWay' }, 300_000, 'NotApplied'],
  ])('%j is waited for %d ms, and then taken back', (progress, ms, reason) => {
    expect(verdictOf(progress, 0, ms - 1)).toEqual({ kind: 'wait', untilMs: ms });
    expect(verdictOf(progress, 0, ms)).toMatchObject({ kind: 'takeBack', hold: { reason } });
  });

  it('is taken back at once when it cannot ever be', () => {
    expect(verdictOf({ kind: 'infeasible', message: 'too large' }, 0, 0)).toEqual({
      kind: 'takeBack',
      hold: { reason: 'Infeasible', message: 'too large' },
    });
  });

  it.each<[ResizeProgress, string]>([
    [{ kind: 'overwritten' }, 'Overwritten'],
    [{ kind: 'ended' }, 'PodLeaving'],
  ])('is left alone when it is %j', (progress, reason) => {
    expect(verdictOf(progress, 0, 0)).toMatchObject({ kind: 'left', hold: { reason } });
  });

  it('goes back to what the kubelet last agreed to: what was sent, and nothing else', () => {
    fc.assert(
      fc.property(pods, asks, (pod, to) => {
        const changes = changesOf(pod, to).filter(({ from }) => from !== null);
        fc.pre(changes.length > 0);
        const stuck = { ...patched(pod, sizesOf(changes)), pending: condition('Deferred') };
        const back = agreedSizes(stuck, sizesOf(changes));
        expect(changesOf(stuck, back)).toHaveLength(changes.length);
        const after = patched(stuck, back);
        expect(after.containers.map(({ spec }) => spec)).toEqual(pod.containers.map(({ spec }) => spec));
        expect(progressOf(actuated(after), back).kind).toBe('done');
      }),
      propertyRuns,
    );
  });

  it.each([
    ['Guaranteed', size({ memory: 200 * MIB }, { memory: 200 * MIB })],
    ['Burstable', size({ memory: 150 * MIB }, { memory: 200 * MIB })],
  ] as const)('of a %s pod goes back to amounts that the API server takes', (qos, back) => {
    const same = qos === 'Guaranteed';
    const lower = new Map([['app', size({ memory: 150 * MIB }, { memory: 150 * MIB })]]);
    const limits = { cpu: '1', memory: '200Mi' };
    const pod = resizable({ app: { requests: same ? limits : { memory: '180Mi' }, limits } });
    const half = patched(pod, lower);
    const [app] = half.containers;
    // The kubelet has allocated the lower request, and cannot enforce the lower limit.
    const stuck = { ...half, qos, containers: [{ ...app!, allocated: { memory: 150 * MIB } }] };
    expect(agreedSizes(stuck, lower).get('app')).toEqual(back);
  });

  it('of a predecessor is found on the pod, and taken back as a whole', () => {
    expect(pendingSizes(before)).toBeNull();
    const left = { ...asked, pending: condition('Deferred') };
    const back = agreedSizes(left, pendingSizes(left)!);
    expect(patched(left, back).containers[0]!.spec).toEqual(before.containers[0]!.spec);
  });
});
