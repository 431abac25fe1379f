import { describe, expect, it } from '@jest/globals';
import type { EvictIntent, ObservedPod } from '@spotalis/core';
import { aPod } from '../../testing/objects.ts';
import { type DisruptionHooks, Register, underWayUntilMs } from './register.ts';
import type { WorkloadState } from './state.ts';

const limits = (nowMs: number) => ({ nowMs, moveTimeoutMs: 600_000 });

const pod = (name: string, change: Partial<ObservedPod> = {}): ObservedPod => ({
  ...aPod(name),
  ended: false,
  ready: true,
  createdAtMs: 0,
  deletionMs: null,
  ...change,
});

const scene = (...pods: ObservedPod[]): WorkloadState => ({ replicas: 2, pods });
const gone = pod('a', { ended: true, deletionMs: 1_000 });

const intentOf = (uid = 'web'): EvictIntent => ({
  kind: 'evict',
  id: uid,
  module: 'recycling',
  rank: 2,
  subject: uid,
  sinceMs: 1_000,
  workload: { uid, namespace: 'shop' },
  pod: { name: 'a', uid: 'a-uid', resourceVersion: '1' },
  node: 'spot-1',
});

interface Begun {
  readonly uid?: string;
  readonly hooks?: DisruptionHooks;
  readonly before?: WorkloadState;
}

/** Granted and confirmed at once. */
function begin(register: Register, nowMs: number, { uid, hooks = {}, before }: Begun = {}): void {
  const intent = intentOf(uid);
  register.reserve(intent, nowMs);
  const room = { node: 'od-1', requests: { cpu: 100, pods: 1 } };
  register.begin({ intent, room, hooks, before: before ?? scene(pod('a'), pod('b')) }, nowMs);
}

function inFlight({ eviction = 'taken', ...begun }: Begun & { eviction?: 'taken' | 'unknown' } = {}) {
  const register = new Register();
  begin(register, 1_000, begun);
  register.sent('web', eviction);
  const follow = (now: WorkloadState, nowMs = 2_000) => register.follow('web', now, limits(nowMs))?.result;
  return { register, follow };
}

const use = (register: Register, nowMs: number) => {
  const { underWay, begun } = register.view(3, nowMs);
  const namespaces = [...underWay.values()].map(({ namespace }) => namespace);
  return {
    ...register.use('web', 'recycling'),
    cluster: underWay.size,
    namespace: namespaces.filter((one) => one === 'shop').length,
    begunAtMs: begun.map(({ atMs }) => atMs),
  };
};

describe('a disruption under way', () => {
  it('lasts until its pod is gone and as many pods are Ready as before', () => {
    const { follow } = inFlight();
    expect(follow(scene(pod('a'), pod('b'), pod('c')))).toBeUndefined();
    expect(follow(scene(gone, pod('b')))).toBeUndefined();
    expect(follow(scene(gone, pod('b'), pod('c')))).toBeUndefined();
    expect(follow(scene(pod('b'), pod('c', { ready: false })))).toBeUndefined();
    expect(follow(scene(pod('b'), pod('c')))).toBe('succeeded');
  });

  it('does not wait for pods that were not Ready before', () => {
    const { follow } = inFlight({ before: scene(pod('a', { ready: false }), pod('b')) });
    expect(follow(scene(pod('b'), pod('c', { ready: false })))).toBe('succeeded');
  });

  it('is over when fewer pods are wanted, or the workload is gone', () => {
    expect(inFlight().follow({ replicas: 1, pods: [pod('b')] })).toBe('succeeded');
    expect(inFlight().follow({ replicas: 1, pods: [pod('b', { ready: false })] })).toBe('superseded');
    expect(inFlight().follow({ replicas: undefined, pods: [] })).toBe('superseded');
  });

  it('of a workload that nobody watches ends a minute after its pod is gone', () => {
    const unwatched = (...pods: ObservedPod[]): WorkloadState => ({ replicas: undefined, pods });
    const { register, follow } = inFlight({ before: unwatched(pod('a')) });
    expect(follow(unwatched(pod('a')), 10_000)).toBeUndefined();
    expect(follow(unwatched(gone), 20_000)).toBeUndefined();
    expect(follow(unwatched(pod('c')), 30_000)).toBeUndefined();
    expect(register.nextLookMs('web', 600_000)).toBe(90_000);
    expect(follow(unwatched(pod('c')), 89_999)).toBeUndefined();
    expect(follow(unwatched(pod('c')), 90_000)).toBe('succeeded');
  });

  it('lasts for as long as its module says, which is shown what was not there before', () => {
    const shown: string[][] = [];
    let says: 'failed' | undefined;
    const judge: DisruptionHooks['judge'] = (fresh) => {
      shown.push(fresh.map(({ metadata }) => metadata.name));
      return says;
    };
    const { follow } = inFlight({ hooks: { judge } });
    expect(follow(scene(pod('a'), pod('b'), pod('c')))).toBeUndefined();
    expect(shown).toEqual([]);
    expect(follow(scene(gone, pod('b'), pod('c')))).toBeUndefined();
    says = 'failed';
    expect(follow(scene(pod('b'), pod('c')))).toBe('failed');
    expect(shown).toEqual([['c'], ['c']]);
  });

  it('fails by time', () => {
    const { follow } = inFlight();
    expect(follow(scene(pod('b')), 600_999)).toBeUndefined();
    expect(follow(scene(pod('b')), 601_000)).toBe('timeout');
  });

  it('whose answer was lost counts until it is clear that the pod stays', () => {
    const { register, follow } = inFlight({ eviction: 'unknown' });
    expect(follow(scene(pod('a'), pod('b')), 15_999)).toBeUndefined();
    expect(use(register, 15_999).workload).toBe(1);
    expect(register.nextLookMs('web', 600_000)).toBe(16_000);
    expect(follow(scene(pod('a'), pod('b')), 16_000)).toBe('lost');
    expect(use(register, 16_000)).toMatchObject({ cluster: 0, begunAtMs: [] });
  });

  it('whose answer was lost is as any other once its pod goes', () => {
    const { register, follow } = inFlight({ eviction: 'unknown' });
    expect(follow(scene(gone, pod('b')), 15_000)).toBeUndefined();
    expect(register.nextLookMs('web', 600_000)).toBe(601_000);
    expect(follow(scene(pod('b'), pod('c', { ready: false })), 20_000)).toBeUndefined();
    expect(register.nextLookMs('web', 600_000)).toBe(601_000);
  });

  it('counts against every budget until it ends, and against the minute after that', () => {
    const { register, follow } = inFlight();
    expect(use(register, 2_000)).toEqual({
      cluster: 1,
      namespace: 1,
      workload: 1,
      nodes: new Map([['spot-1', 1]]),
      begunAtMs: [1_000],
    });
    expect(register.promised()).toEqual(new Map([['od-1', { cpu: 100, pods: 1 }]]));
    follow(scene(pod('b'), pod('c')));
    expect(use(register, 2_000)).toMatchObject({ cluster: 0, namespace: 0, workload: 0, begunAtMs: [1_000] });
    expect(register.promised().size).toBe(0);
  });

  it('counts against the choices of its own module alone', () => {
    const { register } = inFlight();
    expect(register.use('web', 'distribution').workload).toBe(0);
    expect(register.use('web', 'recycling').workload).toBe(1);
  });

  it('that was refused was none', () => {
    const register = new Register();
    begin(register, 1_000);
    register.cancel('web');
    expect(use(register, 1_000)).toMatchObject({ cluster: 0, begunAtMs: [] });
  });
});

describe('a leader after another', () => {
  function successor() {
    const register = new Register();
    register.succeed([{ workloadUid: 'web', namespace: 'shop', untilMs: 601_000, nodes: ['spot-1'] }], 1_000);
    return register;
  }

  it('finds the minute spent, each cooldown begun and a move of each workload that looks like one in flight', () => {
    const register = successor();
    expect(use(register, 60_999)).toMatchObject({
      cluster: 1,
      workload: 1,
      begunAtMs: [1_000, 1_000, 1_000],
    });
    expect(use(register, 61_000).begunAtMs).toEqual([]);
    expect(register.tookOverAtMs).toBe(1_000);
  });

  it('burdens the node that a pod is leaving, as its predecessor did, until the pod is gone', () => {
    const register = successor();
    begin(register, 2_000, { uid: 'api' });
    expect(use(register, 2_000).nodes).toEqual(new Map([['spot-1', 2]]));
    register.follow('web', scene(pod('b'), pod('c')), limits(3_000));
    expect(use(register, 3_000).nodes).toEqual(new Map([['spot-1', 1]]));
  });

  it('counts such a workload until nothing looks like a move or the time of one is over', () => {
    const register = successor();
    expect(register.follow('web', scene(pod('a'), gone), limits(2_000))).toBeUndefined();
    expect(
      register.follow('web', scene(pod('a'), pod('b', { ready: false })), limits(2_000)),
    ).toBeUndefined();
    expect(register.follow('web', scene(pod('a'), pod('b')), limits(2_000))).toMatchObject({
      result: 'succeeded',
      begun: undefined,
    });
    const late = pod('a', { ended: true, deletionMs: 30_000 });
    expect(successor().follow('web', scene(late, pod('b'), pod('c')), limits(600_999))).toBeUndefined();
    expect(successor().follow('web', scene(late), limits(601_000))?.result).toBe('timeout');
  });

  it.each<[string, WorkloadState, number]>([
    ['a pod that goes', scene(pod('b'), pod('c'), pod('a', { ended: true, deletionMs: 5_000 })), 605_000],
    [
      'a pod that came and is not Ready',
      scene(pod('b'), pod('c', { ready: false, createdAtMs: 800 })),
      600_800,
    ],
    ['a pod that is missing', scene(pod('b')), 31_000],
    ['all pods there and Ready', scene(pod('b'), pod('c')), Number.NEGATIVE_INFINITY],
    ['no workload any more', { replicas: undefined, pods: [gone] }, Number.NEGATIVE_INFINITY],
  ])('takes %s for a move for as long as one may last', (_what, one, untilMs) => {
    expect(underWayUntilMs(one, 1_000, 600_000)).toBe(untilMs);
  });

  it('looks again when what looks like a move has lasted for too long to be one', () => {
    const register = successor();
    expect(register.nextLookMs('web', 600_000)).toBe(601_000);
    register.follow('web', scene(pod('b')), limits(2_000));
    expect(register.nextLookMs('web', 600_000)).toBe(31_000);
    expect(register.follow('web', scene(pod('b')), limits(31_000))?.result).toBe('succeeded');
  });

  it('knows of nothing when nobody led before', () => {
    const register = successor();
    register.startAfresh();
    expect(use(register, 1_000)).toMatchObject({ cluster: 0, begunAtMs: [] });
    expect(register.tookOverAtMs).toBeUndefined();
  });
});
