import { describe, expect, it } from '@jest/globals';
import { waitFor } from './wait.ts';

describe('waitFor', () => {
  it('returns the first answer that is true', async () => {
    let asked = 0;
    expect(await waitFor('three', () => ++asked > 2 && asked, { intervalMs: 1 })).toBe(3);
  });

  it('fails with the description and the last value', async () => {
    const wait = waitFor('pods', () => ({ pods: 4 }), {
      timeoutMs: 20,
      intervalMs: 1,
      until: ({ pods }) => pods === 5,
    });
    await expect(wait).rejects.toThrow('waited 20 ms in vain for pods; last value: {"pods":4}');
  });

  it('takes an exception for a no, and names the last one', async () => {
    let asked = 0;
    const answer = () => {
      if (asked++ === 0) throw new Error('not yet');
      return 'now';
    };
    expect(await waitFor('it', answer, { intervalMs: 1 })).toBe('now');
    const never = waitFor('it', () => Promise.reject(new Error('refused')), { timeoutMs: 20, intervalMs: 1 });
    await expect(never).rejects.toThrow('last error: refused');
  });

  it('gives up on time when the condition itself hangs', async () => {
    await expect(
      waitFor('it', () => new Promise<boolean>(() => undefined), { timeoutMs: 20 }),
    ).rejects.toThrow('waited 20 ms in vain for it; no answer yet');
  });
});
