import { describe, expect, it } from '@jest/globals';
import { MemoryLogger } from '../testing/logger.ts';
import { announcement } from './announcement.ts';
import type { Component, StartContext } from './component.ts';
import { LifecycleError } from './error.ts';
import { Lifecycle } from './lifecycle.ts';

const never = (): Promise<void> => announcement<void>().made;

function scene() {
  const log: string[] = [];
  const lifecycle = new Lifecycle(new MemoryLogger());
  const part = (name: string, overrides: Partial<Component> = {}): Component => ({
    name,
    start: () => void log.push(`+${name}`),
    stop: () => void log.push(`-${name}`),
    ...overrides,
  });
  return { log, lifecycle, part };
}

const rejection = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'resolved',
    (error: unknown) => error,
  );

describe('a lifecycle', () => {
  it('starts in order, each after the one before is ready, and stops in exact reverse', async () => {
    const { log, lifecycle, part } = scene();
    const slow = part('b', {
      start: async () => {
        await Promise.resolve();
        log.push('+b');
      },
    });
    lifecycle.add(part('a'), slow, part('c'), { name: 'without halves' });
    await lifecycle.start();
    await lifecycle.stop();
    expect(log).toEqual(['+a', '+b', '+c', '-c', '-b', '-a']);
  });

  it('stops what had started when a part cannot start, the failed part included', async () => {
    const { log, lifecycle, part } = scene();
    const broken = part('b', {
      start: () => {
        throw new Error('port in use');
      },
    });
    lifecycle.add(part('a'), broken, part('c'));
    const error = await rejection(lifecycle.start());
    expect(error).toBeInstanceOf(LifecycleError);
    expect(error).toMatchObject({
      code: 'COMPONENT_START_FAILED',
      component: 'b',
      message: 'b could not start: port in use',
      cause: { message: 'port in use' },
    });
    expect(log).toEqual(['+a', '-b', '-a']);
    expect(lifecycle.state).toBe('stopped');
  });

  it('gives up on a part that does not start in time', async () => {
    const { log, lifecycle, part } = scene();
    lifecycle.add(part('a'), part('b', { start: never, startDeadlineMs: 5 }));
    expect(await rejection(lifecycle.start())).toMatchObject({
      code: 'COMPONENT_START_DEADLINE',
      component: 'b',
    });
    expect(log).toEqual(['+a', '-b', '-a']);
  });

  it('leaves behind a part that does not stop in time or throws, and stops the rest', async () => {
    const { log, lifecycle, part } = scene();
    const throwing = part('c', {
      stop: () => {
        throw new Error('no');
      },
    });
    lifecycle.add(part('a'), part('b', { stop: never, stopDeadlineMs: 5 }), throwing);
    await lifecycle.start();
    const problems = await lifecycle.stop();
    expect(problems).toMatchObject([
      { code: 'COMPONENT_STOP_FAILED', component: 'c' },
      { code: 'COMPONENT_STOP_DEADLINE', component: 'b' },
    ]);
    expect(log).toEqual(['+a', '+b', '+c', '-a']);
  });

  it('told to stop while starting aborts the part under way and starts no further one', async () => {
    const { log, lifecycle, part } = scene();
    const entered = announcement<void>();
    const waiting = part('b', {
      start: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
          entered.make();
        }),
    });
    lifecycle.add(part('a'), waiting, part('c'));
    const starting = rejection(lifecycle.start());
    await entered.made;
    await lifecycle.stop();
    expect(await starting).toMatchObject({ code: 'START_INTERRUPTED' });
    expect(log).toEqual(['+a', '-b', '-a']);
  });

  it('told to stop twice stops once', async () => {
    const { log, lifecycle, part } = scene();
    lifecycle.add(part('a'));
    await lifecycle.start();
    await Promise.all([lifecycle.stop(), lifecycle.stop()]);
    await lifecycle.stop();
    expect(log).toEqual(['+a', '-a']);
  });

  it('is ready exactly while running, and tells what it is otherwise', async () => {
    const { lifecycle, part } = scene();
    const seen: unknown[] = [];
    const look = (): void =>
      void seen.push(lifecycle.readiness.ready, lifecycle.readiness.check().get('lifecycle'));
    lifecycle.add(part('a', { start: look, stop: look }));
    await lifecycle.start();
    look();
    await lifecycle.stop();
    expect(seen).toEqual([
      false,
      { ok: false, reason: 'starting' },
      true,
      { ok: true },
      false,
      { ok: false, reason: 'stopping' },
    ]);
  });

  it('is not ready while any named check fails or throws', async () => {
    const { lifecycle } = scene();
    let synced: true | string = 'listing pods';
    lifecycle.readiness.add('caches', () => synced);
    lifecycle.readiness.add('broken', () => {
      throw new Error('bug');
    });
    await lifecycle.start();
    expect(Object.fromEntries(lifecycle.readiness.check())).toEqual({
      lifecycle: { ok: true },
      caches: { ok: false, reason: 'listing pods' },
      broken: { ok: false, reason: 'bug' },
    });
    synced = true;
    expect(lifecycle.readiness.check().get('caches')).toEqual({ ok: true });
    expect(() => lifecycle.readiness.add('caches', () => true)).toThrow('named caches already');
    await lifecycle.stop();
  });

  it('hears of a part that fails later', async () => {
    const { lifecycle, part } = scene();
    const contexts: StartContext[] = [];
    lifecycle.add(part('lease', { start: (context) => void contexts.push(context) }));
    await lifecycle.start();
    contexts[0]!.fail(new Error('lost'));
    expect(await lifecycle.failed).toMatchObject({ message: 'lost' });
    await lifecycle.stop();
  });
});
