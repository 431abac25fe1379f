import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { LedgerUnavailable } from '../errors.ts';
import { Patience } from './patience.ts';

const timeoutMs = 200;

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    return error instanceof LedgerUnavailable ? error.code : String(error);
  }
}

const silence = (): Promise<never> => new Promise(() => undefined);

describe('the deadline of calls to Redis', () => {
  let calls: Patience;
  let late: number;
  let stalledMs: number;
  const outcomes: string[] = [];

  function start({ ordered }: { readonly ordered: boolean }): void {
    late = 0;
    stalledMs = 0;
    outcomes.length = 0;
    const now = (): number => performance.now() + stalledMs;
    calls = new Patience({ timeoutMs, ordered, now });
  }

  const note = (answer: Promise<unknown>): void => {
    void codeOf(calls.wait(answer, () => (late += 1))).then((code) => outcomes.push(code));
  };
  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

  beforeEach(() => {
    jest.useFakeTimers();
    start({ ordered: true });
  });

  afterEach(() => {
    calls.stop();
    jest.useRealTimers();
  });

  it('is so long a silence', async () => {
    note(silence());
    await pass(timeoutMs - 1);
    expect(outcomes).toEqual([]);
    await pass(2);
    expect(outcomes).toEqual(['LEDGER_TIMEOUT']);
  });

  it('is as long for a call that is sent between two looks at the clock', async () => {
    note(silence());
    await pass(timeoutMs / 8 - 2);
    note(silence());
    await pass(timeoutMs);
    expect(outcomes).toEqual(['LEDGER_TIMEOUT']);
  });

  it('counts a stall of this process as a moment', async () => {
    note(silence());
    stalledMs += 10 * timeoutMs;
    await pass(timeoutMs - 1);
    expect(outcomes).toEqual([]);
    await pass(2);
    expect(outcomes).toEqual(['LEDGER_TIMEOUT']);
  });

  it('begins anew with an answer to an earlier call, but not for ever', async () => {
    note(silence());
    for (let quarter = 0; quarter < 11; quarter++) {
      await pass(timeoutMs / 4);
      note(Promise.resolve());
    }
    expect(outcomes).not.toContain('LEDGER_TIMEOUT');
    await pass(timeoutMs / 4 + 1);
    expect(outcomes).toContain('LEDGER_TIMEOUT');
  });

  it('does not where another node may have answered that call', async () => {
    start({ ordered: false });
    note(silence());
    await pass(timeoutMs / 2);
    note(Promise.resolve());
    await pass(timeoutMs / 2 + 1);
    expect(outcomes).toEqual(['ok', 'LEDGER_TIMEOUT']);
  });

  it('is over for all who wait, each at its time', async () => {
    note(silence());
    await pass(timeoutMs / 2);
    note(silence());
    await pass(timeoutMs / 2 + 1);
    expect(outcomes).toEqual(['LEDGER_TIMEOUT']);
    await pass(timeoutMs / 2);
    expect(outcomes).toEqual(['LEDGER_TIMEOUT', 'LEDGER_TIMEOUT']);
    expect(jest.getTimerCount()).toBe(1);
    await pass(timeoutMs);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('tells of an answer that comes after all', async () => {
    let answer: () => void = () => undefined;
    note(
      new Promise<void>((resolve) => {
        answer = resolve;
      }),
    );
    await pass(timeoutMs + 1);
    expect({ outcomes, late }).toEqual({ outcomes: ['LEDGER_TIMEOUT'], late: 0 });
    answer();
    await pass(1);
    expect({ outcomes, late }).toEqual({ outcomes: ['LEDGER_TIMEOUT'], late: 1 });
  });
});

/** Answers every question at once, in a thread of its own, as Redis does in its own process. */
const answering = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (question) => parentPort.postMessage(question));
`;

describe('a process that stalls', () => {
  const redis = new Worker(answering, { eval: true });
  const calls = new Patience({ timeoutMs, ordered: true });
  const ignored = (): void => undefined;

  const ask = (): Promise<unknown> => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- to a thread, not to a window
    redis.postMessage('?');
    return once(redis, 'message');
  };

  const block = (forMs: number): void => {
    const end = performance.now() + forMs;
    while (performance.now() < end);
  };

  afterEach(() => redis.terminate());

  it('sees no outage of a Redis that answers at once', async () => {
    await ask();
    for (let round = 0; round < 3; round++) {
      const codes = Promise.all([codeOf(calls.wait(ask(), ignored)), codeOf(calls.wait(ask(), ignored))]);
      block(2 * timeoutMs);
      expect(await codes).toEqual(['ok', 'ok']);
    }
    const hangs = codeOf(calls.wait(silence(), ignored));
    block(2 * timeoutMs);
    expect(await hangs).toBe('LEDGER_TIMEOUT');
  });
});
