import { beforeEach, describe, expect, it } from '@jest/globals';
import { LedgerUnavailable } from '../errors.ts';
import { Circuit } from './circuit.ts';

const failure = new LedgerUnavailable('LEDGER_TIMEOUT', 'no answer');
const never = (): Promise<never> => new Promise(() => undefined);
const fails = async () => {
  throw failure;
};
const answers = async () => 'answer';

let now: number;
let told: (string | undefined)[];
let circuit: Circuit;

beforeEach(() => {
  now = 0;
  told = [];
  circuit = new Circuit(
    (changed) => told.push(changed?.code),
    () => now,
  );
});

async function codeOf(place: string, attempt: () => Promise<unknown> = answers): Promise<string> {
  try {
    await circuit.run(place, attempt);
    return 'ok';
  } catch (error) {
    return error instanceof LedgerUnavailable ? error.code : String(error);
  }
}

describe('the circuit', () => {
  it('lets one caller at a time try what failed, until it answers', async () => {
    expect(await codeOf('a', fails)).toBe('LEDGER_TIMEOUT');
    let answer: (value: string) => void = () => undefined;
    const trial = codeOf('a', () => new Promise((resolve) => (answer = resolve)));
    expect(await codeOf('a')).toBe('LEDGER_CIRCUIT_OPEN');
    answer('at last');
    expect(await trial).toBe('ok');
    expect(await codeOf('a')).toBe('ok');
    expect(told).toEqual(['LEDGER_TIMEOUT', undefined]);
  });

  it('lets the next caller try when the one before failed', async () => {
    for (let trial = 0; trial < 3; trial++) expect(await codeOf('a', fails)).toBe('LEDGER_TIMEOUT');
    expect(told).toEqual(['LEDGER_TIMEOUT']);
  });

  it('keeps nobody from a place that answers while another one is silent', async () => {
    await codeOf('silent', fails);
    void codeOf('silent', never);
    expect(await codeOf('silent')).toBe('LEDGER_CIRCUIT_OPEN');
    expect(await codeOf('healthy')).toBe('ok');
    // As a whole it is well again when all of it is.
    expect(told).toEqual(['LEDGER_TIMEOUT']);
  });

  it('forgets of a place that it failed when nobody asks for it any more', async () => {
    await codeOf('gone', fails);
    now = 9_999;
    await codeOf('healthy');
    expect(told).toEqual(['LEDGER_TIMEOUT']);
    now = 10_000;
    await codeOf('healthy');
    expect(told).toEqual(['LEDGER_TIMEOUT', undefined]);
  });

  it('lets everybody through again once a connection was made', async () => {
    await codeOf('a', fails);
    void codeOf('a', never);
    circuit.reset();
    expect(await codeOf('a')).toBe('ok');
    expect(told).toEqual(['LEDGER_TIMEOUT', undefined]);
  });

  it('lets everybody through again to a place that answered late, and to no other', async () => {
    for (const place of ['slow', 'silent']) {
      await codeOf(place, fails);
      void codeOf(place, never);
    }
    circuit.answered('slow');
    expect(await codeOf('slow')).toBe('ok');
    expect(await codeOf('silent')).toBe('LEDGER_CIRCUIT_OPEN');
    expect(told).toEqual(['LEDGER_TIMEOUT']);
  });

  it('takes what was not refused by the ledger for no failure of it', async () => {
    const attempt = async () => {
      throw new TypeError('unexpected');
    };
    expect(await codeOf('a', attempt)).toContain('unexpected');
    expect(told).toEqual([]);
  });
});
