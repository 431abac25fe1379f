import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { unlessStopped } from './interrupt.ts';

describe('a start that waits', () => {
  it('ends with its work, and leaves nothing behind', async () => {
    const { signal } = new AbortController();
    expect(await unlessStopped(signal, Promise.resolve('done'))).toBe('done');
    await expect(unlessStopped(signal, Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends when the service is told to stop, before or meanwhile', async () => {
    const stopping = new AbortController();
    const waiting = unlessStopped(stopping.signal, new Promise(() => undefined));
    stopping.abort();
    await expect(waiting).rejects.toThrow('told to stop');
    await expect(unlessStopped(stopping.signal, new Promise(() => undefined))).rejects.toThrow(
      'told to stop',
    );
  });
});
