import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { withLock } from './lock.ts';

describe('the lock', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lock-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const lock = <T>(work: () => Promise<T>, waiting: (pid: number) => void = () => undefined) =>
    withLock(join(dir, 'lock'), work, waiting, 5_000);

  it('lets one in at a time, and says whom the other waits for', async () => {
    const steps: string[] = [];
    const gate = new EventEmitter();
    const opened = once(gate, 'open');
    const first = lock(async () => {
      steps.push('first in');
      await opened;
      steps.push('first out');
    });
    const second = lock(
      async () => steps.push('second in'),
      (pid) => {
        steps.push(`second waits for ${pid === process.pid ? 'us' : pid}`);
        gate.emit('open');
      },
    );
    await Promise.all([first, second]);
    expect(steps).toEqual(['second waits for us', 'first in', 'first out', 'second in']);
  });

  it('is free again when its holder has died, or its pid belongs to another process now', async () => {
    for (const holder of [
      { pid: 2 ** 22 + 1, startTime: null },
      { pid: process.pid, startTime: '1' },
    ]) {
      writeFileSync(join(dir, 'lock'), JSON.stringify(holder));
      expect(await lock(async () => 'in')).toBe('in');
    }
  });

  it('is free again after a failure', async () => {
    await expect(lock(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await lock(async () => 'in')).toBe('in');
  });
});
