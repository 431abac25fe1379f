import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Turns } from './turns.ts';

const size = { module: 'allocation', purpose: 'size' } as const;

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

describe('a turn', () => {
  it('is over for whoever does not want it any more, and costs nobody another', async () => {
    const turns = new Turns(() => performance.now());
    const never = new AbortController().signal;
    const went: string[] = [];
    for (let i = 0; i < 50; i++) await turns.take(size, never);
    const leaving = new AbortController();
    const left = turns.take(size, leaving.signal);
    void turns.take(size, never).then(() => went.push('next'));
    leaving.abort();
    await left;
    await jest.advanceTimersByTimeAsync(99);
    expect(went).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(went).toEqual(['next']);
    await turns.take(size, leaving.signal);
  });
});
