import { describe, expect, it } from '@jest/globals';
import { type Breaker, readBulletin, writeBulletin } from '@spotalis/core';
import { ApiError } from '@spotalis/kube';
import { aDeployment, silent } from '../../../testing/objects.ts';
import { Bulletins } from './bulletin.ts';

const NOON = Date.parse('2026-11-18T12:00:00Z');
const web = aDeployment();
const { uid, name, namespace = '' } = web.metadata;
const opened = (openedAtMs: number): Breaker => ({
  state: 'open',
  sinceMs: NOON - 120_000,
  openedAtMs,
  backoffMs: 60_000,
  early: true,
});
const closed: Breaker = { state: 'closed' };
const refused = (status: number) => new ApiError({ status, body: {}, request: 'GET /x' });

/** Lets everything happen that waits for nothing but promises. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function board(
  options: { former?: string; get?: Error; patch?: Error; readOnly?: boolean; fenced?: boolean } = {},
) {
  let nowMs = NOON;
  let due: { atMs: number; task: () => void } | undefined;
  const texts: string[] = [];
  const present = new Map([[`${namespace}/${name}`, web]]);
  const state = { managed: true, poolOpen: false, readOnly: options.readOnly ?? false, patch: options.patch };
  const bulletins = new Bulletins({
    client: {
      get: (() =>
        options.get === undefined
          ? Promise.resolve({
              data: options.former === undefined ? undefined : { 'droughts.json': options.former },
            })
          : Promise.reject(options.get)) as never,
      mergePatch: ((_of: unknown, place: object, { data }: { data: Record<string, string> }) => {
        if (state.patch !== undefined) return Promise.reject(state.patch);
        expect(place).toEqual({ namespace: 'spotalis-system', name: 'spotalis-droughts' });
        texts.push(data['droughts.json'] ?? '');
        return Promise.resolve({});
      }) as never,
    },
    cluster: {
      workload: (_kind, key) => present.get(key),
      isManaged: () => state.managed,
    },
    namespace: 'spotalis-system',
    writer: 'controller-1',
    mayWrite: () => options.fenced !== true,
    isReadOnly: () => state.readOnly,
    logger: silent,
    now: () => nowMs,
    after(ms, task) {
      due = { atMs: nowMs + ms, task };
      return () => (due = undefined);
    },
  });
  /** Time passes, and what is due in it happens. */
  async function pass(ms: number): Promise<void> {
    const endMs = nowMs + ms;
    await settle();
    while (due !== undefined && due.atMs <= endMs) {
      const { atMs, task } = due;
      due = undefined;
      nowMs = Math.max(nowMs, atMs);
      task();
      await settle();
    }
    nowMs = endMs;
  }
  const read = () =>
    texts.map((text) => {
      const reading = readBulletin(text);
      return reading.kind === 'read' ? reading.bulletin : reading;
    });
  const note = (breaker: Breaker) => bulletins.note(web, breaker, 'spot', () => state.poolOpen);
  return { bulletins, note, pass, read, texts, state, present, isIdle: () => due === undefined };
}

describe('the bulletin of droughts', () => {
  it('is written soon after a breaker opened, and again when it closed', async () => {
    const { bulletins, note, pass, read } = board();
    bulletins.lead();
    note(opened(NOON));
    await pass(1_000);
    expect(read()).toEqual([
      {
        writer: 'controller-1',
        writtenAtMs: NOON + 300,
        omitted: 0,
        droughts: [
          {
            kind: 'Deployment',
            namespace,
            name,
            uid,
            state: 'open',
            sinceMs: NOON - 120_000,
            nextProbeAtMs: NOON + 60_000,
            pool: 'spot',
            poolIsOpen: false,
          },
        ],
      },
    ]);
    note(closed);
    await pass(10_000);
    expect(read().at(-1)).toMatchObject({ droughts: [] });
    expect(read()).toHaveLength(2);
  });

  it('is left alone while nothing changes, and nothing is waited for', async () => {
    const { bulletins, note, pass, texts, isIdle } = board();
    bulletins.lead();
    note(closed);
    await pass(60_000);
    expect(texts).toEqual([]);
    note(opened(NOON));
    await pass(60_000);
    for (let look = 0; look < 100; look++) {
      note(opened(NOON));
      await pass(30_000);
    }
    expect(texts).toHaveLength(1);
    expect(isIdle()).toBe(true);
  });

  it('is written no more than once in five seconds, however much changes', async () => {
    const { bulletins, note, pass, texts } = board();
    bulletins.lead();
    for (let second = 0; second < 60; second++) {
      note(opened(NOON + second));
      await pass(1_000);
    }
    expect(texts.length).toBeGreaterThan(10);
    expect(texts.length).toBeLessThanOrEqual(13);
  });

  it('says whether the placement is known to be out of capacity', async () => {
    const { bulletins, note, pass, read, state } = board();
    bulletins.lead();
    state.poolOpen = true;
    note(opened(NOON));
    await pass(1_000);
    expect(read().at(-1)).toMatchObject({ droughts: [{ poolIsOpen: true }] });
  });

  const former = writeBulletin({
    writer: 'controller-0',
    writtenAtMs: NOON - 60_000,
    omitted: 0,
    droughts: ['gone', uid].map((each) => ({
      kind: 'Deployment' as const,
      namespace,
      name: each === uid ? name : 'gone',
      uid: each,
      state: 'open' as const,
      sinceMs: NOON - 120_000,
      nextProbeAtMs: NOON + 60_000,
      pool: 'spot',
      poolIsOpen: false,
    })),
  });

  it('keeps what a former leader told of workloads that were not looked at yet, and drops those that are gone', async () => {
    const { bulletins, note, pass, read } = board({ former });
    bulletins.lead();
    await pass(1_000);
    expect(read()).toMatchObject([{ writer: 'controller-1', droughts: [{ uid }] }]);
    note(closed);
    await pass(10_000);
    expect(read().at(-1)).toMatchObject({ droughts: [] });
  });

  it('drops workloads that are not managed any more', async () => {
    const { bulletins, note, pass, read } = board();
    bulletins.lead();
    note(opened(NOON));
    await pass(10_000);
    bulletins.forget(uid);
    await pass(10_000);
    expect(read().at(-1)).toMatchObject({ droughts: [] });
  });

  it('is not written by who does not lead, is fenced off, or may write nothing', async () => {
    const standby = board();
    standby.note(opened(NOON));
    const fenced = board({ fenced: true });
    const careful = board({ readOnly: true });
    for (const { bulletins, note } of [fenced, careful]) {
      bulletins.lead();
      note(opened(NOON));
    }
    for (const each of [standby, fenced, careful]) {
      await each.pass(60_000);
      expect(each.texts).toEqual([]);
    }
    careful.state.readOnly = false;
    await careful.pass(60_000);
    expect(careful.texts).toHaveLength(1);
  });

  it('stops when leading ends', async () => {
    const { bulletins, note, pass, texts, isIdle } = board();
    const leave = bulletins.lead();
    await pass(1_000);
    note(opened(NOON));
    leave();
    await pass(60_000);
    expect([texts, isIdle()]).toEqual([[], true]);
  });

  it.each([403, 404])(
    'is silent where it may not be written (%i) while there is nothing to tell',
    async (status) => {
      const { bulletins, note, pass, isIdle } = board({ get: refused(status), patch: refused(status) });
      bulletins.lead();
      note(closed);
      await pass(60_000);
      expect(isIdle()).toBe(true);
    },
  );

  it('is written when it can be again', async () => {
    const { bulletins, note, pass, texts, state } = board({ patch: refused(500) });
    bulletins.lead();
    note(opened(NOON));
    await pass(40_000);
    expect(texts).toEqual([]);
    state.patch = undefined;
    await pass(40_000);
    expect(texts).toHaveLength(1);
  });
});
