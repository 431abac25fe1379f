import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadline, decisionBudgetMs } from './deadline.ts';

describe('the budget of a decision', () => {
  it('is the configured one while the call leaves 300 ms for the way back', () => {
    expect(decisionBudgetMs(1_500, 2_000)).toBe(1_500);
    expect(decisionBudgetMs(1_500, undefined)).toBe(1_500);
  });

  it('shrinks with the timeout of the call', () => {
    expect(decisionBudgetMs(1_500, 1_000)).toBe(700);
    expect(decisionBudgetMs(1_500, 400)).toBe(200);
  });
});

describe('a deadline', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('ends work that takes too long', async () => {
    const deadline = new Deadline(100);
    const late = deadline.within(new Promise(() => undefined));
    jest.advanceTimersByTime(99);
    expect(deadline.over).toBe(false);
    jest.advanceTimersByTime(1);
    await expect(late).rejects.toMatchObject({ code: 'DECISION_TIMEOUT' });
    expect(deadline.over).toBe(true);
    expect(deadline.abandoned).toBe(false);
  });

  it('ends work at once when the caller goes away', async () => {
    const deadline = new Deadline(100);
    const late = deadline.within(new Promise(() => undefined));
    deadline.abandon();
    await expect(late).rejects.toMatchObject({ code: 'DECISION_TIMEOUT' });
    expect(deadline.abandoned).toBe(true);
  });

  it('leaves no timer behind', async () => {
    const deadline = new Deadline(100);
    await expect(deadline.within(Promise.resolve('done'))).resolves.toBe('done');
    deadline.end();
    expect(jest.getTimerCount()).toBe(0);
  });
});
