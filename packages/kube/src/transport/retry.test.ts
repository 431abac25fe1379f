import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { ApiError, ConnectionError, DeadlineError } from '../errors.ts';
import { mayRetry, parseRetryAfterMs, retryDelayMs } from './retry.ts';

const numRuns = Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000);
const api = (status: number, retryAfterMs?: number): ApiError =>
  new ApiError({ status, body: {}, retryAfterMs, request: 'GET /' });
const connection = (code: string): ConnectionError =>
  new ConnectionError('GET /', Object.assign(new Error('x'), { code }));

describe('mayRetry', () => {
  it.each([429, 500, 502, 503, 504])('repeats %d when that does no harm', (status) => {
    expect(mayRetry(api(status), true)).toBe(true);
    expect(mayRetry(api(status), false)).toBe(false);
  });

  it.each([400, 401, 403, 404, 409, 410, 422])('never repeats %d', (status) => {
    expect(mayRetry(api(status), true)).toBe(false);
  });

  it('tells a refused connection from one that broke', () => {
    expect(mayRetry(connection('ECONNREFUSED'), false)).toBe(true);
    expect(mayRetry(connection('ECONNRESET'), false)).toBe(false);
    expect(mayRetry(connection('ECONNRESET'), true)).toBe(true);
  });

  it('repeats after the deadline of one attempt only what may be said twice', () => {
    expect(mayRetry(new DeadlineError('GET /', 1), true)).toBe(true);
    expect(mayRetry(new DeadlineError('POST /', 1), false)).toBe(false);
  });
});

describe('retryDelayMs', () => {
  it('lies between the nominal delay and half as much again, and never above 7.5 s by itself', () => {
    fc.assert(
      fc.property(
        fc.nat(40),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        (attempt, random) => {
          const delayMs = retryDelayMs(connection('ECONNRESET'), attempt, () => random);
          const nominal = Math.min(100 * 2 ** attempt, 5_000);
          expect(delayMs).toBeGreaterThanOrEqual(nominal);
          expect(delayMs).toBeLessThanOrEqual(nominal * 1.5);
        },
      ),
      { numRuns },
    );
  });

  it('is never shorter than what the server asked for', () => {
    expect(retryDelayMs(api(429, 3_000), 0, () => 0)).toBe(3_000);
  });
});

describe('parseRetryAfterMs', () => {
  it.each<[string | undefined, number | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['7', 7_000],
    ['soon', undefined],
    ['Thu, 01 Jan 1970 00:01:00 GMT', 50_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ])('%s', (header, ms) => {
    expect(parseRetryAfterMs(header, 10_000)).toBe(ms);
  });
});
