import { describe, expect, it } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { MemoryLogger } from '../testing/logger.ts';
import { until } from '../testing/until.ts';
import { announcement } from './announcement.ts';
import type { Component } from './component.ts';
import { Lifecycle } from './lifecycle.ts';
import { runService } from './process.ts';

class FakeProcess extends EventEmitter {
  readonly codes: number[] = [];
  exit(code: number): void {
    this.codes.push(code);
  }
}

function run(component: Component) {
  const host = new FakeProcess();
  const logger = new MemoryLogger();
  const lifecycle = new Lifecycle(logger).add(component);
  const done = runService({ lifecycle, logger, process: host });
  const running = () => until('running', () => lifecycle.state === 'running');
  return { host, logger, lifecycle, done, running };
}

describe('a service', () => {
  it.each(['SIGTERM', 'SIGINT'])('told by %s stops in order and exits with 0', async (signal) => {
    let stopped = false;
    const { host, done, running } = run({ name: 'a', stop: () => void (stopped = true) });
    await running();
    host.emit(signal, signal);
    await done;
    expect(stopped).toBe(true);
    expect(host.codes).toEqual([0]);
    expect(host.eventNames()).toEqual([]);
  });

  it('told twice exits at once with 1', async () => {
    const hanging = announcement<void>();
    const { host, done, running } = run({ name: 'a', stop: () => hanging.made });
    await running();
    host.emit('SIGTERM', 'SIGTERM');
    host.emit('SIGTERM', 'SIGTERM');
    expect(host.codes).toEqual([1]);
    hanging.make();
    await done;
  });

  it('told while it starts stops and exits with 0', async () => {
    const { host, done } = run({
      name: 'a',
      start: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('no')))),
    });
    await Promise.resolve();
    host.emit('SIGTERM', 'SIGTERM');
    await done;
    expect(host.codes).toEqual([0]);
  });

  it('that cannot start exits with 1 and one line that says why', async () => {
    const { host, logger, done } = run({
      name: 'webhook',
      start: () => {
        throw new Error('port 9443 is in use');
      },
    });
    await done;
    expect(host.codes).toEqual([1]);
    expect(logger.lines.filter(({ level }) => level === 'error')).toMatchObject([
      {
        message: 'could not start',
        fields: { error: { message: 'webhook could not start: port 9443 is in use' } },
      },
    ]);
  });

  it('that loses a part stops in order and exits with 1', async () => {
    let stopped = false;
    const { host, done } = run({
      name: 'lease',
      start: ({ fail }) => fail(new Error('lost')),
      stop: () => void (stopped = true),
    });
    await done;
    expect(stopped).toBe(true);
    expect(host.codes).toEqual([1]);
  });

  it('that cannot stop cleanly exits with 1', async () => {
    const { host, done, running } = run({
      name: 'a',
      stop: () => {
        throw new Error('no');
      },
    });
    await running();
    host.emit('SIGTERM', 'SIGTERM');
    await done;
    expect(host.codes).toEqual([1]);
  });

  it.each(['unhandledRejection', 'uncaughtException'])(
    'logs an %s and exits with 1 at once',
    async (event) => {
      const { host, logger, done, running } = run({ name: 'a' });
      await running();
      host.emit(event, new Error('bug'));
      expect(host.codes).toEqual([1]);
      expect(logger.lines.at(-1)).toMatchObject({ level: 'error', fields: { error: { message: 'bug' } } });
      host.emit('SIGTERM', 'SIGTERM');
      await done;
    },
  );
});
