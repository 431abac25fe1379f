import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  type ResizeIntent,
  resizeKeys,
  type ResizeSurroundings,
  readOriginals,
  type Size,
} from '@spotalis/core';
import { ApiError } from '@spotalis/kube';
import * as fc from 'fast-check';
import { answer, KubeletDouble, lost } from '../../testing/kubelet.ts';
import { intentOf, silentLogger, unhindered } from '../../testing/resizing.ts';
import type { ResizeAnswer } from './flight.ts';
import { Resizer } from './resizer.ts';

const key = resizeKeys.originalCpuLimits;
const now = () => performance.now();

function leader(kubelet: KubeletDouble, around: Partial<ResizeSurroundings> = {}) {
  const open = { fence: true };
  const resizer = new Resizer({
    client: kubelet.client as never,
    mayWrite: () => open.fence,
    random: () => 0,
    surroundingsOf: () => ({ ...unhindered, ...around }),
    now,
    logger: silentLogger,
  });
  kubelet.watch = (pod) => resizer.saw(pod);
  return { resizer, open };
}

const asking = (to: Size, more: Partial<ResizeIntent> = {}): ResizeIntent => ({
  ...intentOf(
    { namespace: 'shop', pod: 'web-1', to: { app: to } },
    { metadata: { name: 'web-1', uid: 'web-1-uid', resourceVersion: '1' } },
  ),
  ...more,
});
const cpu = (amount: number): Size => ({ requests: { cpu: amount }, limits: {} });
const limit = (amount: number): Size => ({ requests: {}, limits: { cpu: amount } });
const lend = (amount: number) =>
  asking(limit(amount), {
    id: 'allocation/web-1',
    module: 'allocation',
    remember: { annotation: key, value: '{"app":"500m"}' },
  });
const giveBack = () =>
  asking(limit(500), { id: 'allocation/web-1', module: 'allocation', purpose: 'restore', forget: key });
const covered = { allocationCovers: () => true };

/** Lets the resizer come to where it waits for the kubelet, or to its end. */
const settle = () => jest.advanceTimersByTimeAsync(0);

async function ended(answering: Promise<ResizeAnswer>, ms = 0): Promise<ResizeAnswer> {
  await jest.advanceTimersByTimeAsync(ms);
  return answering;
}

/** A kubelet that looks at the pod after each resize. */
const syncing = (kubelet: KubeletDouble) => (call: string) => {
  if (call.startsWith('resize')) queueMicrotask(() => kubelet.sync());
};

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

describe('a resize', () => {
  it('is read anew, sent, and followed until the kubelet has applied it', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    const answering = resizer.resize(asking(cpu(200)));
    await settle();
    expect(kubelet.calls).toEqual(['get', 'resize [{"requests":{"cpu":"200m"},"limits":{}}]']);
    expect(resizer.stateOf('web-1-uid')).toMatchObject({
      phase: 'verifying',
      progress: { kind: 'underWay' },
    });
    kubelet.sync();
    expect(await ended(answering)).toEqual({ kind: 'resized', isWhole: true, left: null });
    expect(resizer.stateOf('web-1-uid')).toBeUndefined();
  });

  it('writes nothing where the pod has it already', async () => {
    const kubelet = new KubeletDouble();
    expect(await ended(leader(kubelet).resizer.resize(asking(cpu(100))))).toMatchObject({ kind: 'resized' });
    expect(kubelet.writes).toEqual([]);
  });

  it('writes nothing where a guard holds it', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet, { podLeaves: true });
    expect(await ended(resizer.resize(asking(cpu(200))))).toEqual({
      kind: 'held',
      hold: { reason: 'PodLeaving' },
      untilMs: null,
    });
    expect(kubelet.writes).toEqual([]);
  });

  it.each([
    ['get', []],
    ['annotate', []],
    ['resize', ['annotate']],
  ])('writes nothing more once the lease is lost before the call %s', async (last, written) => {
    const kubelet = new KubeletDouble();
    const { resizer, open } = leader(kubelet, covered);
    kubelet.before = (call) => {
      if (call.startsWith(last)) open.fence = false;
    };
    expect(await ended(resizer.resize(lend(900)))).toEqual({ kind: 'dropped' });
    expect(kubelet.writes).toEqual(written);
  });

  it('is not taken back without the lease: the next leader does', async () => {
    const kubelet = new KubeletDouble();
    const { resizer, open } = leader(kubelet);
    kubelet.word = 'Infeasible';
    const answering = resizer.resize(asking(cpu(200)));
    await settle();
    open.fence = false;
    kubelet.sync();
    expect(await ended(answering)).toEqual({ kind: 'dropped' });
    expect(kubelet.writes).toHaveLength(1);
  });

  it('is not taken for overwritten when the watch is behind', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    const before = structuredClone(kubelet.pod!);
    const answering = resizer.resize(asking(cpu(200)));
    await settle();
    resizer.saw(before);
    await settle();
    kubelet.sync();
    expect(await ended(answering)).toMatchObject({ kind: 'resized' });
  });

  it('is done when the watch missed it, at the next look', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    const answering = resizer.resize(asking(cpu(200)));
    await settle();
    kubelet.watch = () => undefined;
    kubelet.sync();
    expect(await ended(answering, 30_000)).toMatchObject({ kind: 'resized' });
  });

  it('is read and sent once more when the pod changed meanwhile, and then held', async () => {
    const kubelet = new KubeletDouble();
    const node = { name: 'n1', leaving: false, allocatable: { cpu: 1_000 }, free: { cpu: 100 } };
    const { resizer } = leader(kubelet, { node });
    let changes = 1;
    kubelet.before = (call) => {
      if (call.startsWith('resize') && changes-- > 0) throw answer(409);
    };
    const answering = resizer.resize(asking(cpu(200)));
    await settle();
    kubelet.sync();
    expect(await ended(answering)).toMatchObject({ kind: 'resized' });
    changes = 2;
    expect(await ended(resizer.resize(asking(cpu(300))))).toMatchObject({
      kind: 'held',
      hold: { reason: 'Overwritten' },
    });
  });

  it.each([
    ['a quota', answer(403, 'exceeded quota: q'), { reason: 'Refused', by: 'quota' }],
    ['the validation', answer(422, 'Invalid'), { reason: 'Refused', by: 'validation' }],
    [
      'the lack of a right',
      answer(403, 'User "u" cannot patch resource "pods/resize"'),
      { reason: 'Forbidden' },
    ],
    ['an old server', answer(404), { reason: 'ResizeUnsupported', by: 'server' }],
    ['silence', lost(), { reason: 'Unreachable' }],
  ])('that is met by %s is held, and is not sent again at once', async (_what, error, hold) => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    kubelet.before = (call) => {
      if (call.startsWith('resize')) throw error;
    };
    expect(await ended(resizer.resize(asking(cpu(200))))).toMatchObject({ kind: 'held', hold });
    kubelet.before = () => undefined;
    expect(await ended(resizer.resize(asking(cpu(200))))).toMatchObject({ kind: 'held', hold });
    expect(kubelet.writes).toEqual([]);
    resizer.lift('web-1-uid');
    const answering = resizer.resize(asking(cpu(200)));
    await settle();
    kubelet.sync();
    expect(await ended(answering)).toMatchObject({ kind: 'resized' });
  });

  it('waits as long as an overloaded server asks for', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    kubelet.before = (call) => {
      if (call.startsWith('resize'))
        throw new ApiError({ status: 429, body: {}, retryAfterMs: 30_000, request: 'x' });
    };
    const untilMs = performance.now() + 30_000;
    expect(await ended(resizer.resize(asking(cpu(200))))).toMatchObject({ kind: 'held', untilMs });
  });

  it('without an answer is followed where it was carried out all the same', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    kubelet.after = (call) => {
      if (call.startsWith('resize')) throw lost();
    };
    const answering = resizer.resize(asking(cpu(200)));
    await settle();
    kubelet.sync();
    expect(await ended(answering)).toMatchObject({ kind: 'resized' });
    expect(kubelet.writes).toHaveLength(1);
  });

  it('ends with its pod', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    const answering = resizer.resize(asking(cpu(200)));
    await settle();
    kubelet.delete();
    resizer.gone('web-1-uid');
    expect(await ended(answering)).toEqual({ kind: 'gone' });
    expect(await ended(resizer.resize(asking(cpu(200))))).toEqual({ kind: 'gone' });
  });
});

describe('a resize that the kubelet does not carry out', () => {
  it('is waited for when it is deferred, and done when room comes up', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    kubelet.word = 'Deferred';
    const answering = resizer.resize(asking(cpu(200)));
    await settle();
    kubelet.sync();
    await jest.advanceTimersByTimeAsync(59_000);
    kubelet.word = 'apply';
    kubelet.sync();
    expect(await ended(answering)).toMatchObject({ kind: 'resized' });
    expect(kubelet.writes).toHaveLength(1);
  });

  it.each([
    ['Deferred', 60_000, 'Deferred'],
    ['Error', 120_000, 'NotApplied'],
    ['Infeasible', 0, 'Infeasible'],
    [null, 300_000, 'NotApplied'],
  ] as const)('is taken back when it is %s, after %d ms', async (word, ms, reason) => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    kubelet.word = word;
    const answering = resizer.resize(asking(cpu(200)));
    await settle();
    kubelet.sync();
    if (ms > 0) await jest.advanceTimersByTimeAsync(ms - 1);
    if (ms > 0) expect(kubelet.writes).toHaveLength(1);
    expect(await ended(answering, 1)).toMatchObject({ kind: 'takenBack', hold: { reason } });
    expect(kubelet.writes[1]).toBe('resize [{"requests":{"cpu":"100m"},"limits":{}}]');
    expect(await ended(resizer.resize(asking(cpu(200))))).toMatchObject({ kind: 'held', hold: { reason } });
  });

  it('is taken back however often the API server is away', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    kubelet.word = 'Infeasible';
    const answering = resizer.resize(asking(cpu(200)));
    await settle();
    let failures = 5;
    kubelet.before = () => {
      if (failures-- > 0) throw lost();
    };
    kubelet.sync();
    expect(await ended(answering, 60_000)).toMatchObject({ kind: 'takenBack' });
    expect(failures).toBeLessThan(0);
  });

  it('has its minute from when it was deferred, not from when it was sent', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    kubelet.word = null;
    const answering = resizer.resize(asking(cpu(200)));
    await jest.advanceTimersByTimeAsync(50_000);
    kubelet.word = 'Deferred';
    kubelet.sync();
    await jest.advanceTimersByTimeAsync(59_999);
    expect(kubelet.writes).toHaveLength(1);
    expect(await ended(answering, 1)).toMatchObject({ kind: 'takenBack' });
  });

  it('is not taken back when room came up while nobody could see it', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    kubelet.word = 'Deferred';
    const answering = resizer.resize(asking(cpu(200)));
    await settle();
    kubelet.sync();
    await jest.advanceTimersByTimeAsync(45_000);
    kubelet.watch = () => undefined;
    kubelet.word = 'apply';
    kubelet.sync();
    let unread = 1;
    kubelet.before = () => {
      if (unread-- > 0) throw lost();
    };
    expect(await ended(answering, 15_000)).toMatchObject({ kind: 'resized' });
    expect(unread).toBe(-1);
    expect(kubelet.writes).toHaveLength(1);
  });

  it('is not patched for what somebody else left pending', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    kubelet.pod!.status.conditions = [
      { type: 'PodResizePending', status: 'True', reason: 'Deferred', message: 'of another container' },
    ];
    const answering = resizer.resize(asking(cpu(100)));
    expect(await ended(answering, 61_000)).toMatchObject({ kind: 'held', hold: { reason: 'Deferred' } });
    expect(kubelet.writes).toEqual([]);
  });

  it('is left alone when somebody else resizes the pod', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    kubelet.word = 'Deferred';
    const answering = resizer.resize(asking(cpu(200)));
    await settle();
    kubelet.pod!.spec.containers[0]!.resources.requests['cpu'] = '150m';
    kubelet.sync();
    expect(await ended(answering)).toMatchObject({ kind: 'held', hold: { reason: 'Overwritten' } });
    expect(kubelet.writes).toHaveLength(1);
  });
});

describe('several resizes', () => {
  it('of one pod: what waits makes way for a newer wish', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    for (let i = 0; i < 50; i++)
      void resizer.resize(asking(cpu(100), { pod: { name: `p${i}`, uid: `p${i}`, resourceVersion: '1' } }));
    const older = resizer.resize(asking(cpu(200)));
    const newer = resizer.resize(asking(cpu(300)));
    expect(await older).toEqual({ kind: 'dropped' });
    await jest.advanceTimersByTimeAsync(1_000);
    kubelet.sync();
    expect(await ended(newer)).toMatchObject({ kind: 'resized' });
    expect(kubelet.writes).toEqual(['resize [{"requests":{"cpu":"300m"},"limits":{}}]']);
  });

  it('of one pod come one after another', async () => {
    const kubelet = new KubeletDouble();
    kubelet.word = null;
    const { resizer } = leader(kubelet);
    const first = resizer.resize(asking(cpu(200)));
    await settle();
    expect(await resizer.resize(asking(cpu(300)))).toMatchObject({
      kind: 'busy',
      state: { phase: 'verifying' },
    });
    kubelet.word = 'apply';
    kubelet.sync();
    expect(await ended(first)).toMatchObject({ kind: 'resized' });
  });

  it('are not promised the same room', async () => {
    const doubles = new Map(['web-1', 'web-2'].map((name) => [name, new KubeletDouble()]));
    for (const [name, { pod }] of doubles) Object.assign(pod!.metadata, { name, uid: `${name}-uid` });
    const [first, second] = [...doubles.values()];
    const routed = new KubeletDouble();
    const to = ({ name }: { name: string }) => doubles.get(name)!.client;
    const client = {
      get: (_of: unknown, at: { name: string }) => to(at).get(),
      strategicMergePatch: (...args: Parameters<typeof routed.client.strategicMergePatch>) =>
        to(args[1] as { name: string }).strategicMergePatch(...args),
    };
    Object.assign(routed.client, client);
    const node = { name: 'n1', leaving: false, allocatable: { cpu: 1_000 }, free: { cpu: 150 } };
    const { resizer } = leader(routed, { node });
    first!.watch = (pod) => resizer.saw(pod);
    const grow = (name: string) =>
      resizer.resize(asking(cpu(200), { pod: { name, uid: `${name}-uid`, resourceVersion: '1' } }));
    const answers = [grow('web-1'), grow('web-2')];
    await settle();
    first!.sync();
    expect(await ended(answers[0]!)).toMatchObject({ kind: 'resized' });
    expect(await answers[1]).toMatchObject({ kind: 'held', hold: { reason: 'NodeFull', has: 50 } });
    expect(second!.writes).toEqual([]);
    void grow('web-2');
    await settle();
    expect(second!.writes).toHaveLength(1);
  });

  it('that were refused do not hold up what gives back', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet, covered);
    kubelet.before = (call) => {
      if (call.startsWith('resize')) throw lost();
    };
    expect(await ended(resizer.resize(lend(900)))).toMatchObject({ hold: { reason: 'Unreachable' } });
    kubelet.before = () => undefined;
    expect(await ended(resizer.resize(giveBack()))).toMatchObject({ kind: 'resized' });
    expect(kubelet.annotations).toEqual({});
  });

  it('do not hold up what gives back', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet, covered);
    kubelet.word = 'Deferred';
    const raise = resizer.resize(lend(900));
    await settle();
    const back = resizer.resize(giveBack());
    await settle();
    expect(await ended(raise)).toEqual({ kind: 'dropped' });
    kubelet.word = 'apply';
    kubelet.sync();
    expect(await ended(back)).toMatchObject({ kind: 'resized' });
    expect({ limit: kubelet.limit, annotations: kubelet.annotations }).toEqual({
      limit: '500m',
      annotations: {},
    });
  });

  it('go at the one pace, and one that is withdrawn while it waits is not sent', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet);
    const pods = Array.from({ length: 62 }, (_, i) => `p${i}`);
    const answers = pods.map((name) =>
      resizer.resize(asking(cpu(100), { id: name, pod: { name, uid: name, resourceVersion: '1' } })),
    );
    await settle();
    expect(kubelet.calls).toHaveLength(50);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(kubelet.calls).toHaveLength(60);
    resizer.withdraw('p60');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(kubelet.calls).toHaveLength(61);
    expect(await answers[60]).toEqual({ kind: 'dropped' });
  });
});

describe('what is taken', () => {
  it('is written down before the resize, and forgotten after it was given back', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet, covered);
    kubelet.after = syncing(kubelet);
    expect(await ended(resizer.resize(lend(900)))).toMatchObject({ kind: 'resized' });
    expect(await ended(resizer.resize(lend(1_200)))).toMatchObject({ kind: 'resized' });
    expect(kubelet.annotations).toEqual({ [key]: '{"app":"500m"}' });
    expect(await ended(resizer.resize(giveBack()))).toMatchObject({ kind: 'resized' });
    expect(kubelet.writes.map((call) => call.split(' ')[0])).toEqual([
      'annotate',
      'resize',
      'resize',
      'resize',
      'forget',
    ]);
    expect(kubelet.annotations).toEqual({});
  });

  it('is not forgotten before all of it is given back', async () => {
    const kubelet = new KubeletDouble();
    kubelet.pod!.metadata.annotations['template'] = 'x';
    const node = {
      name: 'n1',
      leaving: false,
      allocatable: { cpu: 1_000, memory: 1_000 },
      free: { cpu: 500 },
    };
    const { resizer } = leader(kubelet, { node });
    kubelet.after = syncing(kubelet);
    const back = asking({ requests: { cpu: 150, memory: 150 }, limits: {} }, { forget: 'template' });
    expect(await ended(resizer.resize(back))).toMatchObject({
      kind: 'resized',
      isWhole: false,
      left: { reason: 'NodeFull', resource: 'memory' },
    });
    expect(kubelet.annotations).toEqual({ template: 'x' });
  });

  it('is not forgotten while it is owed', async () => {
    const kubelet = new KubeletDouble();
    const { resizer } = leader(kubelet, covered);
    kubelet.after = syncing(kubelet);
    await ended(resizer.resize(lend(900)));
    await ended(
      resizer.resize(asking(limit(700), { module: 'allocation', purpose: 'restore', forget: key })),
    );
    expect({ limit: kubelet.limit, annotations: kubelet.annotations }).toEqual({
      limit: '700m',
      annotations: { [key]: '{"app":"500m"}' },
    });
  });
});

describe('a new leader', () => {
  it('takes back what its predecessor left deferred, within a minute', async () => {
    const kubelet = new KubeletDouble();
    kubelet.word = 'Deferred';
    const { resizer: first } = leader(kubelet);
    void first.resize(asking(cpu(200)));
    await settle();
    await first.abandon();
    kubelet.sync();
    const { resizer: second } = leader(kubelet);
    await second.takeUp([{ namespace: 'shop', name: 'web-1', uid: 'web-1-uid' }]);
    expect(await second.resize(asking(cpu(300)))).toMatchObject({ kind: 'busy' });
    await jest.advanceTimersByTimeAsync(61_000);
    expect(second.stateOf('web-1-uid')).toBeUndefined();
    expect(kubelet.pod?.spec.containers[0]?.resources.requests['cpu']).toBe('100m');
  });

  it('leaves alone what somebody else left pending, and what is not pending', async () => {
    const kubelet = new KubeletDouble();
    const place = { namespace: 'shop', name: 'web-1', uid: 'web-1-uid' };
    const { resizer } = leader(kubelet);
    await resizer.takeUp([place, { ...place, uid: 'another' }]);
    kubelet.word = 'Deferred';
    await kubelet.client.strategicMergePatch(
      {},
      {},
      {
        metadata: { uid: 'web-1-uid', resourceVersion: '1' },
        spec: { containers: [{ name: 'app', resources: { requests: { cpu: '200m' } } }] },
      },
      { fieldManager: 'kubectl' },
    );
    kubelet.sync();
    await resizer.takeUp([place]);
    await jest.advanceTimersByTimeAsync(120_000);
    expect(kubelet.writes).toHaveLength(1);
  });

  it('ends where an undisturbed one does, whichever call its predecessor died at', async () => {
    const deaths = fc.record({
      call: fc.nat(8),
      answered: fc.boolean(),
      word: fc.constantFrom('apply' as const, 'Deferred' as const),
      gives: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(deaths, async ({ call, answered, word, gives }) => {
        const kubelet = new KubeletDouble();
        const isSafe = () =>
          kubelet.limit === '500m' || readOriginals(kubelet.annotations)?.get('app') === 500;
        const faults: string[] = [];
        kubelet.after = (name) => {
          if (!isSafe()) faults.push(`after ${name} nobody knows what is owed`);
          queueMicrotask(() => kubelet.sync());
        };
        const start = leader(kubelet, covered);
        if (gives) await ended(start.resizer.resize(lend(900)));
        kubelet.word = word;
        let left = call;
        let isDead = false;
        const die = () => {
          if (isDead || left-- <= 0) {
            isDead = true;
            throw lost();
          }
        };
        const { after } = kubelet;
        if (answered) {
          kubelet.before = () => {
            if (isDead) throw lost();
          };
          kubelet.after = (name) => {
            after(name);
            die();
          };
        } else kubelet.before = die;
        const dying = start.resizer.resize(gives ? giveBack() : lend(900));
        await settle();
        await start.resizer.abandon();
        await dying;
        kubelet.before = () => undefined;
        kubelet.after = after;
        kubelet.word = 'apply';
        const next = leader(kubelet, covered);
        kubelet.sync();
        await next.resizer.takeUp([{ namespace: 'shop', name: 'web-1', uid: 'web-1-uid' }]);
        await jest.advanceTimersByTimeAsync(1_000);
        expect(await ended(next.resizer.resize(gives ? giveBack() : lend(900)), 1_000)).toMatchObject({
          kind: 'resized',
          isWhole: true,
        });
        expect({ faults, limit: kubelet.limit, annotations: kubelet.annotations }).toEqual({
          faults: [],
          limit: gives ? '500m' : '900m',
          annotations: gives ? {} : { [key]: '{"app":"500m"}' },
        });
      }),
      { numRuns: 200 },
    );
  });
});
