import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type PlaceholderShape, type PlaceholderSubject, prunePod } from '@spotalis/core';
import { ApiError } from '@spotalis/kube';
import { Metrics } from '@spotalis/runtime';
import { aCluster, silent } from '../../testing/objects.ts';
import { placeholderMetrics } from './metrics.ts';
import { Placeholders } from './placeholders.ts';

const ours = 'spotalis-system';
const shape: PlaceholderShape = {
  nodeSelector: { capacity: 'spot' },
  nodeTerms: [],
  antiAffinity: [],
  tolerations: [],
  requests: { cpu: 100 },
};
const otherShape = { ...shape, requests: { cpu: 200 } };
const subject = (name: string): PlaceholderSubject => ({
  kind: 'Deployment',
  namespace: 'shop',
  name,
  uid: `${name}-uid`,
  type: 'spot',
});

interface Manifest {
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

/** A leader with an API server that does what it is asked to, and shows it in the store. */
function stage({ max = 2 } = {}) {
  const cluster = aCluster();
  const script = { mayWrite: true, isReadOnly: false, refuse: false };
  const asked: string[] = [];
  const metrics = placeholderMetrics(new Metrics());
  let weighed = 0;
  const manifests = new Map<string, Manifest>();
  let version = 1_000;
  const show = (name: string, nodeName?: string): void => {
    const { metadata, spec } = manifests.get(name)!;
    const raw = {
      metadata: {
        ...metadata,
        uid: `${name}-pod`,
        resourceVersion: String(++version),
        creationTimestamp: new Date(Date.now()).toISOString(),
      },
      spec: { ...spec, ...(nodeName !== undefined && { nodeName }) },
    };
    cluster.pods.upsert(prunePod(raw)!, false);
  };
  const parts = {
    cluster,
    client: {
      create: (_of: unknown, _place: unknown, object: object) => {
        const manifest = object as Manifest;
        asked.push(`create ${manifest.metadata.name}`);
        if (script.refuse) {
          return Promise.reject(new ApiError({ status: 403, body: {}, request: 'POST pods' }));
        }
        manifests.set(manifest.metadata.name, manifest);
        show(manifest.metadata.name);
        return Promise.resolve({} as never);
      },
      delete: (_of: unknown, { name }: { readonly name: string }) => {
        asked.push(`delete ${name}`);
        cluster.pods.remove(`${ours}/${name}`);
        return Promise.resolve();
      },
    },
    namespace: ours,
    backoff: () => ({ initialMs: 60_000, maxMs: 1_800_000 }),
    settings: {
      enabled: true,
      image: 'pause',
      priorityClass: 'low',
      max,
      waitMs: 300_000,
      ageMs: 900_000,
      wishMs: 90_000,
    },
    owner: () => null,
    mayWrite: () => script.mayWrite,
    isReadOnly: () => script.isReadOnly,
    metrics: {
      ...metrics,
      count: (pending: number, placed: number) => {
        weighed++;
        metrics.count(pending, placed);
      },
    },
    logger: silent,
    now: () => Date.now(),
  };
  const leader = () => {
    const placeholders = new Placeholders(parts);
    const leave = placeholders.lead();
    return { placeholders, leave };
  };
  return {
    cluster,
    asked,
    script,
    show,
    leader,
    /** How often all wishes were weighed. */
    weighed: () => weighed,
    names: () => [...cluster.pods.values()].map((pod) => pod.metadata.name),
  };
}

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
const name = (workload: string): string => `placeholder-spot-${workload}-uid`;

describe('placeholders', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: 1_000_000_000 });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('tell what they show, from the wish to the node', async () => {
    const { leader, show } = stage();
    const { placeholders } = leader();
    const evidence = () => placeholders.evidence('web-uid', 'spot').kind;
    expect(evidence()).toBe('none');
    placeholders.want(subject('web'), shape, 'move');
    expect(evidence()).toBe('queued');
    await pass(3_000);
    expect(evidence()).toBe('waiting');
    show(name('web'), 'spot-1');
    expect(placeholders.evidence('web-uid', 'spot')).toEqual({
      kind: 'running',
      node: 'spot-1',
      requests: { cpu: 100, pods: 1 },
    });
  });

  it('are never more than there may be, and the next comes when one has gone', async () => {
    const { leader, names } = stage();
    const { placeholders } = leader();
    for (const one of ['a', 'b', 'c']) placeholders.want(subject(one), shape, 'move');
    await pass(3_000);
    expect(names()).toEqual([name('a'), name('b')]);
    expect(placeholders.evidence('c-uid', 'spot')).toEqual({ kind: 'queued' });
    placeholders.release('a-uid', 'spot', 'move');
    await pass(0);
    expect(names()).toEqual([name('b'), name('c')]);
  });

  it('are weighed no more often when more workloads want one', async () => {
    const weighedIn = async (wishes: number): Promise<readonly number[]> => {
      const { leader, weighed } = stage();
      const { placeholders, leave } = leader();
      await pass(4_000);
      const counts: number[] = [];
      for (let sweep = 0; sweep < 3; sweep++) {
        const before = weighed();
        for (let index = 0; index < wishes; index++) {
          placeholders.want(subject(`w${index}`), shape, 'move');
          placeholders.forget(`other${index}-uid`);
        }
        await pass(0);
        counts.push(weighed() - before);
      }
      leave();
      return counts;
    };
    const few = await weighedIn(10);
    expect(await weighedIn(500)).toEqual(few);
    expect(few.slice(1)).toEqual([0, 0]);
  });

  it('that are refused leave their place to the next in line', async () => {
    const { leader, asked, script, names } = stage({ max: 1 });
    const { placeholders } = leader();
    await pass(4_000);
    script.refuse = true;
    for (const one of ['a', 'b']) placeholders.want(subject(one), shape, 'move');
    script.refuse = false;
    await pass(1_000);
    expect(asked).toEqual([`create ${name('a')}`, `create ${name('b')}`]);
    expect(names()).toEqual([name('b')]);
  });

  it('stay while anybody wants them, and are not made again for one who only keeps', async () => {
    const { leader, names, cluster } = stage();
    const { placeholders } = leader();
    placeholders.want(subject('web'), shape, 'probe');
    await pass(3_000);
    placeholders.keep(subject('web'), 'move');
    placeholders.release('web-uid', 'spot', 'probe');
    expect(names()).toEqual([name('web')]);
    placeholders.keep(subject('web'), 'move');
    cluster.pods.remove(`${ours}/${name('web')}`);
    await pass(5_000);
    expect(names()).toEqual([]);
  });

  it('go when no one has said anything for long, or the workload is gone', async () => {
    const { leader, names } = stage();
    const { placeholders } = leader();
    for (const one of ['a', 'b']) placeholders.want(subject(one), shape, 'move');
    await pass(3_000);
    placeholders.forget('a-uid');
    await pass(0);
    expect(names()).toEqual([name('b')]);
    await pass(100_000);
    expect(names()).toEqual([]);
  });

  it('that get no node are given up, and the next one has to wait', async () => {
    const { leader, asked, names } = stage();
    const { placeholders } = leader();
    const wanting = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 10_000) {
        placeholders.want(subject('web'), shape, 'move');
        await pass(10_000);
      }
    };
    await wanting(320_000);
    expect(names()).toEqual([]);
    expect(placeholders.evidence('web-uid', 'spot').kind).toBe('refused');
    await wanting(70_000);
    expect(asked).toEqual([`create ${name('web')}`, `delete ${name('web')}`, `create ${name('web')}`]);
  });

  it('of another shape are made anew', async () => {
    const { leader, asked } = stage();
    const { placeholders } = leader();
    placeholders.want(subject('web'), shape, 'move');
    await pass(3_000);
    placeholders.want(subject('web'), otherShape, 'move');
    await pass(0);
    expect(asked).toEqual([`create ${name('web')}`, `delete ${name('web')}`, `create ${name('web')}`]);
  });

  it('that the API server refuses are not asked for over and over', async () => {
    const { leader, asked, script } = stage();
    script.refuse = true;
    const { placeholders } = leader();
    for (let turn = 0; turn < 5; turn++) {
      placeholders.want(subject('web'), shape, 'move');
      await pass(5_000);
    }
    expect(asked).toHaveLength(1);
    expect(placeholders.evidence('web-uid', 'spot').kind).toBe('refused');
  });

  it('are found by a new leader: those that are wanted stay, the others go after a while', async () => {
    const { leader, names, asked } = stage();
    const before = leader();
    for (const one of ['a', 'b']) before.placeholders.want(subject(one), shape, 'move');
    await pass(3_000);
    before.leave();
    const { placeholders } = leader();
    placeholders.want(subject('a'), shape, 'move');
    await pass(30_000);
    expect(names()).toEqual([name('a'), name('b')]);
    placeholders.want(subject('a'), shape, 'move');
    await pass(31_000);
    expect(names()).toEqual([name('a')]);
    expect(asked.filter((one) => one.startsWith('create'))).toHaveLength(2);
  });

  it('are neither made nor removed by one who may not write', async () => {
    const { leader, asked, script } = stage();
    const { placeholders } = leader();
    script.mayWrite = false;
    placeholders.want(subject('web'), shape, 'move');
    await pass(10_000);
    expect(asked).toEqual([]);
  });

  it('are neither made nor removed in read-only mode, and are removed when it ends', async () => {
    const { leader, asked, script } = stage();
    const { placeholders } = leader();
    placeholders.want(subject('web'), shape, 'move');
    await pass(10_000);
    expect(asked.splice(0)).toEqual([`create ${name('web')}`]);
    script.isReadOnly = true;
    placeholders.want(subject('db'), shape, 'move');
    placeholders.release('web-uid', 'spot', 'move');
    await pass(10_000);
    expect(asked).toEqual([]);
    script.isReadOnly = false;
    placeholders.release('web-uid', 'spot', 'move');
    await pass(10_000);
    expect(asked).toEqual([`delete ${name('web')}`]);
  });

  it('are no evidence in read-only mode', async () => {
    const { leader, script } = stage();
    const { placeholders } = leader();
    script.isReadOnly = true;
    expect(placeholders.evidence('web-uid', 'spot')).toEqual({ kind: 'off' });
  });
});
