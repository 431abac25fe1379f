import { describe, expect, it } from '@jest/globals';
import { evictionFor } from '@spotalis/core';
import { type Departure, type FlightPod, Register, type Scene, underWayUntilMs } from './register.ts';

const limits = (nowMs: number) => ({ nowMs, moveTimeoutMs: 600_000 });

const pod = (name: string, change: Partial<FlightPod> = {}): FlightPod => ({
  uid: `${name}-uid`,
  ended: false,
  ready: true,
  createdAtMs: 0,
  deletionMs: null,
  type: 'spot',
  steered: true,
  numbers: null,
  override: null,
  ...change,
});

const departure: Departure = {
  workloadUid: 'web',
  namespace: 'shop',
  pod: { name: 'a', uid: 'a-uid' },
  from: 'spot',
  to: 'on-demand',
  node: 'spot-1',
  evidence: 'od-1',
  requests: { cpu: 100, pods: 1 },
  present: ['a-uid', 'b-uid'],
};

const scene = (...pods: FlightPod[]): Scene => ({ replicas: 2, pods });
const gone = pod('a', { ended: true, deletionMs: 1_000 });

function inFlight(eviction: 'taken' | 'unknown' = 'taken') {
  const register = new Register();
  begin(register, departure, 1_000);
  register.sent('web', eviction);
  const arrived: boolean[] = [];
  const follow = (now: Scene, nowMs = 2_000) =>
    register.follow('web', now, limits(nowMs), ({ steered }) => arrived.push(steered))?.result;
  return { register, follow, arrived };
}

const use = (register: Register, nowMs: number) => {
  const { underWay, begun } = register.view(3, nowMs);
  const namespaces = [...underWay.values()].map(({ namespace }) => namespace);
  return {
    ...register.use('web', 'distribution'),
    cluster: underWay.size,
    namespace: namespaces.filter((one) => one === 'shop').length,
    begunAtMs: begun.map(({ atMs }) => atMs),
  };
};

/** Granted and confirmed at once. */
function begin(register: Register, one: Departure, nowMs: number): void {
  const { workloadUid: uid, namespace, node } = one;
  const victim = { ...one.pod, resourceVersion: '1' };
  const asker = { subject: `distribution/${uid}`, disrupts: { uid, namespace }, nowMs };
  const move = { ...one, pod: victim, node, pdb: null, trial: false };
  register.reserve(evictionFor(asker, 'SpotSurplus', move), nowMs);
  register.begin(one, nowMs);
}

describe('a move in flight', () => {
  it('lasts until a pod that was not there before is Ready on the intended type', () => {
    const { follow } = inFlight();
    expect(follow(scene(pod('a'), pod('b')))).toBeUndefined();
    expect(follow(scene(gone, pod('b')))).toBeUndefined();
    const fresh = pod('c', { type: 'on-demand', ready: false });
    expect(follow(scene(gone, pod('b'), fresh))).toBeUndefined();
    expect(follow(scene(pod('b'), pod('c', { type: 'on-demand' })))).toBe('succeeded');
  });

  it('has failed when the replacement came up on the type that it left', () => {
    const { register, follow } = inFlight();
    expect(follow(scene(pod('b'), pod('c', { ready: false })))).toBe('failed');
    expect(register.historyOf('web')).toMatchObject({ failures: 1, endedAtMs: 2_000 });
  });

  it('notes what somebody changed of the replacement, although its annotations are corrected later', () => {
    const { register, follow } = inFlight();
    const changed = pod('c', { type: 'on-demand', ready: false, override: 'a field' });
    expect(follow(scene(pod('b'), changed))).toBeUndefined();
    expect(follow(scene(pod('b'), { ...changed, type: 'spot', override: null }))).toBe('failed');
    expect(register.historyOf('web')).toMatchObject({ failures: 1, override: 'a field' });
  });

  it('waits for a replacement of which nothing is known yet', () => {
    const { follow } = inFlight();
    expect(follow(scene(pod('b'), pod('c', { type: undefined, ready: false })))).toBeUndefined();
  });

  it('tells once whether its replacement came through admission', () => {
    const { register, follow, arrived } = inFlight();
    expect(register.unproven(2_000)).toBe(1);
    const fresh = pod('c', { type: undefined, steered: false, ready: false });
    follow(scene(pod('b'), fresh));
    follow(scene(pod('b'), fresh));
    expect(arrived).toEqual([false]);
    expect(register.unproven(2_000)).toBe(0);
  });

  it('whose replacement does not come at all says nothing about admission after a while', () => {
    const { register } = inFlight();
    expect([30_999, 31_000].map((nowMs) => register.unproven(nowMs))).toEqual([1, 0]);
  });

  it('is superseded when fewer pods are wanted, or the workload is gone', () => {
    expect(inFlight().follow({ replicas: 1, pods: [pod('b')] })).toBe('superseded');
    expect(inFlight().follow({ replicas: undefined, pods: [] })).toBe('superseded');
  });

  it('fails by time', () => {
    const { register, follow } = inFlight();
    expect(follow(scene(pod('b')), 600_999)).toBeUndefined();
    expect(follow(scene(pod('b')), 601_000)).toBe('timeout');
    expect(register.historyOf('web')).toMatchObject({ failures: 1 });
  });

  it('whose answer was lost counts until it is clear that the pod stays', () => {
    const { register, follow } = inFlight('unknown');
    expect(follow(scene(pod('a'), pod('b')), 15_999)).toBeUndefined();
    expect(use(register, 15_999).workload).toBe(1);
    expect(register.nextLookMs('web', 600_000)).toBe(16_000);
    expect(follow(scene(pod('a'), pod('b')), 16_000)).toBe('lost');
    expect(use(register, 16_000)).toMatchObject({ cluster: 0, begunAtMs: [] });
    expect(register.historyOf('web')).toBeNull();
  });

  it('whose answer was lost is as any other once its pod goes', () => {
    const { register, follow } = inFlight('unknown');
    expect(follow(scene(gone, pod('b')), 15_000)).toBeUndefined();
    expect(register.nextLookMs('web', 600_000)).toBe(601_000);
    expect(follow(scene(pod('b'), pod('c', { ready: false, type: 'on-demand' })), 20_000)).toBeUndefined();
    expect(register.nextLookMs('web', 600_000)).toBe(601_000);
  });

  it('counts against every budget until it lands, and against the minute after that', () => {
    const { register, follow } = inFlight();
    expect(use(register, 2_000)).toEqual({
      cluster: 1,
      namespace: 1,
      workload: 1,
      nodes: new Map([['spot-1', 1]]),
      begunAtMs: [1_000],
    });
    expect(register.promised()).toEqual(new Map([['od-1', { cpu: 100, pods: 1 }]]));
    follow(scene(pod('b'), pod('c', { type: 'on-demand' })));
    expect(use(register, 2_000)).toMatchObject({ cluster: 0, namespace: 0, workload: 0, begunAtMs: [1_000] });
    expect(register.promised().size).toBe(0);
  });

  it('that was refused was none', () => {
    const register = new Register();
    begin(register, departure, 1_000);
    register.cancel('web');
    expect(use(register, 1_000)).toMatchObject({ cluster: 0, begunAtMs: [] });
    expect(register.historyOf('web')).toBeNull();
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
    expect(register.historyOf('another')).toMatchObject({ endedAtMs: 1_000, failures: 0 });
  });

  it('burdens the node that a pod is leaving, as its predecessor did, until the pod is gone', () => {
    const register = successor();
    begin(register, { ...departure, workloadUid: 'api' }, 2_000);
    expect(use(register, 2_000).nodes).toEqual(new Map([['spot-1', 2]]));
    register.follow('web', scene(pod('b'), pod('c')), limits(3_000), () => undefined);
    expect(use(register, 3_000).nodes).toEqual(new Map([['spot-1', 1]]));
  });

  it('counts such a workload until nothing looks like a move or the time of one is over', () => {
    const nobody = (): void => undefined;
    const register = successor();
    expect(register.follow('web', scene(pod('a'), gone), limits(2_000), nobody)).toBeUndefined();
    expect(
      register.follow('web', scene(pod('a'), pod('b', { ready: false })), limits(2_000), nobody),
    ).toBeUndefined();
    expect(register.follow('web', scene(pod('a'), pod('b')), limits(2_000), nobody)).toMatchObject({
      result: 'succeeded',
      move: undefined,
    });
    const late = pod('a', { ended: true, deletionMs: 30_000 });
    expect(
      successor().follow('web', scene(late, pod('b'), pod('c')), limits(600_999), nobody),
    ).toBeUndefined();
    expect(successor().follow('web', scene(late), limits(601_000), nobody)?.result).toBe('timeout');
  });

  it.each<[string, Scene, number]>([
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
    register.follow('web', scene(pod('b')), limits(2_000), () => undefined);
    expect(register.nextLookMs('web', 600_000)).toBe(31_000);
    expect(register.follow('web', scene(pod('b')), limits(31_000), () => undefined)?.result).toBe(
      'succeeded',
    );
  });

  it('knows of nothing when nobody led before', () => {
    const register = successor();
    register.startAfresh();
    expect(use(register, 1_000)).toMatchObject({ cluster: 0, begunAtMs: [] });
    expect(register.historyOf('another')).toBeNull();
  });

  it('drops what nobody looks at any more', () => {
    const register = successor();
    register.sweep(1_000);
    expect(register.count).toBe(1);
    register.sweep(1_001);
    expect(register.count).toBe(0);
  });
});
