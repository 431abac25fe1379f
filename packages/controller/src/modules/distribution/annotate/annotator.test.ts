import { describe, expect, it } from '@jest/globals';
import type { ObservedWorkload } from '@spotalis/core';
import { ApiError, FenceClosedError, runWorkers, WorkQueue } from '@spotalis/kube';
import { RefusedAnnotations } from './refused.ts';
import { aCluster, aDeployment, aPod, silent } from '../../../testing/objects.ts';
import { Workers } from '../../../kernel/workers.ts';
import { ANNOTATED_AT_ONCE, type AnnotationKind, Annotator } from './annotator.ts';

const web = aDeployment();
const subject = 'Deployment/shop/web';

const renumbering = (name: string, rank = 3) => ({
  pod: { name, uid: `${name}-uid`, resourceVersion: '7' },
  type: 'spot' as const,
  rank,
  cost: -5,
});

const many = (count: number) => Array.from({ length: count }, (_, index) => renumbering(`p${index}`));

/** Lets everything happen that waits for nothing but promises. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** The first turn that a worker of this queue takes is that of the first workload. */
function annotatorOf({ refuse }: { refuse?: (name: string) => Error | undefined } = {}) {
  const clock = { nowMs: 0 };
  const due: { readonly atMs: number; readonly go: () => void }[] = [];
  const patches: { name: string; atMs: number; patch: unknown }[] = [];
  const again: string[] = [];
  const counted = { correct: 0, renumber: 0 };
  const script = { mayAct: true, onPatch: (_name: string): void | Promise<void> => undefined };
  const cluster = aCluster();
  cluster.pods.upsert(aPod('a', { mark: { token: 't1', type: 'spot' } }), true);
  const refusals = new RefusedAnnotations(() => 0);
  const queue = new WorkQueue();
  const annotator = new Annotator({
    client: {
      async mergePatch(_of, { name }, patch, _query, options) {
        await script.onPatch(name);
        if (options?.fence?.() === false) throw new FenceClosedError('PATCH');
        const error = refuse?.(name);
        if (error !== undefined) throw error;
        patches.push({ name, atMs: clock.nowMs, patch });
        return undefined as never;
      },
    },
    workers: new Workers(queue, (reconcile) =>
      runWorkers({ queue, concurrency: ANNOTATED_AT_ONCE, reconcile }),
    ),
    cluster,
    refusals,
    metrics: { annotated: (kind, pods) => void (counted[kind] += pods) },
    logger: silent,
    mayActOn: () => script.mayAct,
    lookAgain: (which, afterMs) => again.push(`${which} in ${afterMs}`),
    pause: (ms) => new Promise((go) => due.push({ atMs: clock.nowMs + ms, go })),
    now: () => clock.nowMs,
  });
  const stop = annotator.lead();
  /** Until nothing is left to be written, with the clock going on where it is waited for. */
  async function drain(): Promise<void> {
    await settle();
    for (let next = due.shift(); next !== undefined; next = due.shift()) {
      clock.nowMs = next.atMs;
      next.go();
      await settle();
    }
  }
  const want = (changes: Parameters<Annotator['want']>[2], kind: AnnotationKind = 'renumber') =>
    annotator.want(web, kind, changes);
  return { annotator, want, drain, stop, patches, again, counted, script, refusals, clock };
}

const names = (patches: readonly { readonly name: string }[]) => patches.map(({ name }) => name);
const apiError = (status: number) => new ApiError({ status, body: {}, request: 'PATCH' });

describe('annotations on pods', () => {
  it('are written on the very pod that was looked at, with the token that the ledger knows it by', async () => {
    const { want, drain, patches, again, counted } = annotatorOf();
    want([renumbering('a')]);
    await drain();
    expect(patches).toMatchObject([
      {
        name: 'a',
        patch: {
          metadata: {
            uid: 'a-uid',
            resourceVersion: '7',
            annotations: {
              'spotalis.io/capacity-type': 'spot',
              'spotalis.io/reservation': 't1',
              'spotalis.io/rank': '3',
              'controller.kubernetes.io/pod-deletion-cost': '-5',
            },
          },
        },
      },
    ]);
    expect(again).toEqual([`${subject} in 1000`]);
    expect(counted).toEqual({ correct: 0, renumber: 1 });
  });

  it('are the type alone where neither rank nor cost is ours to say', async () => {
    const { want, drain, patches } = annotatorOf();
    want([{ ...renumbering('a'), rank: null, cost: null }], 'correct');
    await drain();
    expect(patches[0]?.patch).toMatchObject({
      metadata: { annotations: { 'spotalis.io/capacity-type': 'spot' } },
    });
    expect(JSON.stringify(patches)).not.toMatch(/rank|reservation|cost/);
  });

  it('are written slowly, and a few in one turn', async () => {
    const { want, drain, patches } = annotatorOf();
    want(many(50));
    await drain();
    expect(patches.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 20 }, (_, index) => index * 50));
  });

  it.each([404, 409])('are left for another look when the answer is %i', async (status) => {
    const { want, drain, patches, again, refusals } = annotatorOf({
      refuse: (name) => (name === 'a' ? apiError(status) : undefined),
    });
    want([renumbering('a'), renumbering('b')]);
    await drain();
    expect(names(patches)).toEqual(['b']);
    expect(again).toEqual([`${subject} in 1000`]);
    expect(refusals.of('web-uid', 0)).toBeNull();
  });

  it.each([400, 403, 422])(
    'are written on the others when one is refused with %i, which holds the workload and is told at once',
    async (status) => {
      const { want, drain, patches, again, refusals } = annotatorOf({
        refuse: (name) => (name === 'a' ? apiError(status) : undefined),
      });
      want([renumbering('a'), renumbering('b')]);
      await drain();
      expect(names(patches)).toEqual(['b']);
      expect(again).toEqual([`${subject} in 0`]);
      expect(refusals.of('web-uid', 0)).toMatchObject({ reason: 'AnnotationRefused' });
    },
  );

  it('are not written any more once nothing may be done about the workload, and no request is left', async () => {
    const { want, drain, patches, script } = annotatorOf();
    script.onPatch = (name) => void (script.mayAct = name !== 'p2');
    want(many(5));
    await drain();
    expect(names(patches)).toEqual(['p0', 'p1']);
  });

  it('go by what was decided last, also in the midst of a turn, and each version of a pod is tried once', async () => {
    const { annotator, want, drain, patches, script } = annotatorOf();
    let changed = false;
    script.onPatch = (name) => {
      if (name === 'p1' && !changed) want([renumbering('p0'), renumbering('p1', 8), renumbering('p3', 9)]);
      changed ||= name === 'p1';
      if (name === 'p3') annotator.drop(subject);
    };
    want(many(10));
    await drain();
    const rankOf = (patch: unknown) => /rank":"(\d)/.exec(JSON.stringify(patch))?.[1];
    expect(patches.map(({ name, patch }) => `${name} ${rankOf(patch)}`)).toEqual(['p0 3', 'p1 8']);
    want([renumbering('p3', 9)]);
    await drain();
    expect(names(patches)).toEqual(['p0', 'p1']);
    script.onPatch = () => undefined;
    want([renumbering('p3', 9)]);
    await drain();
    expect(names(patches)).toEqual(['p0', 'p1', 'p3']);
  });

  it('end with the leading: what is not written is let go, and the end waits for what is on its way', async () => {
    const { want, drain, stop, patches, script } = annotatorOf();
    let answer = (): void => undefined;
    script.onPatch = (name) => (name === 'p1' ? new Promise<void>((go) => (answer = go)) : undefined);
    want(many(5));
    const drained = drain();
    while (patches.length === 0) await settle();
    await drained;
    const order: string[] = [];
    const stopped = stop().then(() => order.push('stopped'));
    await settle();
    order.push('answered');
    answer();
    await drain();
    await stopped;
    expect(order).toEqual(['answered', 'stopped']);
    want(many(5));
    await drain();
    expect(names(patches)).toEqual(['p0']);
  });

  it('of one workload are not held up by another whose requests get no answer', async () => {
    const { annotator, want, drain, patches, script } = annotatorOf();
    script.onPatch = (name) => (name === 'p0' ? new Promise<void>(() => undefined) : undefined);
    want(many(3));
    annotator.want(aDeployment({ name: 'api' }), 'renumber', [renumbering('b')]);
    await drain();
    expect(names(patches)).toEqual(['b']);
  });

  it('of two thousand pods hold up no look at another workload, and keep their pace', async () => {
    const { annotator, drain, patches, clock } = annotatorOf();
    const workloads = new Map<string, ObservedWorkload>(
      Array.from({ length: 200 }, (_, index) => [`w${index}`, aDeployment({ name: `w${index}` })]),
    );
    const looks = new WorkQueue();
    let lookedAtMs: number | undefined;
    for (const name of workloads.keys()) looks.add(name);
    looks.add('in a drought');
    const looking = runWorkers({
      queue: looks,
      concurrency: 5,
      reconcile(name) {
        const workload = workloads.get(name);
        if (workload === undefined) lookedAtMs = clock.nowMs;
        else annotator.want(workload, 'renumber', many(10));
        return Promise.resolve(undefined);
      },
    });
    await drain();
    expect(lookedAtMs).toBe(0);
    expect(patches).toHaveLength(2_000);
    expect(patches.at(-1)?.atMs).toBe(1_999 * 50);
    await looks.shutdown({ drain: false });
    await looking;
  });
});
