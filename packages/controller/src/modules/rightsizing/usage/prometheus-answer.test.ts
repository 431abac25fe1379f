import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { readNames, readPoint, readQueryAnswer } from './prometheus-answer.ts';
import { DropCount } from './reading.ts';

const numRuns = Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000);
const labels = { namespace: 'shop', pod: 'web-7d9f8c6b5d-x2k4p', container: 'app' };

/** As Prometheus 2.42 and 3 answer. */
const vector = {
  status: 'success',
  data: { resultType: 'vector', result: [{ metric: labels, value: [1700000000.123, '0.25'] }] },
};
const matrix = {
  status: 'success',
  data: {
    resultType: 'matrix',
    result: [
      {
        metric: labels,
        values: [
          [1700000100, '0.1'],
          [1700000400, 'NaN'],
        ],
      },
    ],
  },
};

describe('the answer to a query', () => {
  it('is one value for each series of a vector, and many of a matrix', () => {
    expect(readQueryAnswer(vector)).toEqual({
      kind: 'series',
      series: [{ labels, values: [[1700000000.123, '0.25']] }],
    });
    const read = readQueryAnswer(matrix);
    expect(read).toMatchObject({ series: [{ labels, values: [expect.anything(), expect.anything()] }] });
  });

  it('with a warning is partial, whatever else it holds', () => {
    const warnings = ['Store "10.0.0.7" is unavailable', { toString: 1 }];
    expect(readQueryAnswer({ ...vector, warnings })).toEqual({
      kind: 'partial',
      warning: 'Store "10.0.0.7" is unavailable',
    });
  });

  it('with a note on the query is as good as without', () => {
    const infos = ['PromQL info: metric might not be a counter'];
    expect(readQueryAnswer({ ...vector, warnings: [], infos })).toEqual(readQueryAnswer(vector));
  });

  it.each([
    null,
    [],
    { status: 'error', errorType: 'timeout', error: 'query timed out' },
    { status: 'success' },
    { status: 'success', data: { resultType: 'scalar', result: [1, '2'] } },
    { status: 'success', data: { resultType: 'vector', result: {} } },
    { status: 'success', data: { resultType: 'matrix', result: [{ metric: labels, value: [1, '2'] }] } },
  ])('is none: %j', (json) => {
    expect(readQueryAnswer(json)).toEqual({ kind: 'malformed' });
  });

  it('is read without a throw, whatever JSON it is', () => {
    const result = fc.array(
      fc.oneof(
        fc.jsonValue(),
        fc.record({ metric: fc.jsonValue(), value: fc.jsonValue(), values: fc.jsonValue() }),
      ),
    );
    const answer = fc.record(
      {
        status: fc.constantFrom('success', 'error'),
        warnings: fc.oneof(fc.jsonValue(), fc.constant([])),
        data: fc.oneof(
          fc.jsonValue(),
          fc.record({ resultType: fc.constantFrom('vector', 'matrix', 'scalar'), result }),
        ),
      },
      { requiredKeys: ['status', 'data'] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), answer), (json) => {
        expect(['series', 'partial', 'malformed']).toContain(readQueryAnswer(json).kind);
        expect(['names', 'partial', 'malformed']).toContain(readNames(json).kind);
      }),
      { numRuns },
    );
  });
});

describe('a point', () => {
  it('has CPU in millicores, memory in bytes, and its end in milliseconds', () => {
    const drops = new DropCount();
    expect(readPoint('cpu', [1700000000.123, '0.25'], drops)).toEqual({ endMs: 1700000000123, value: 250 });
    expect(readPoint('memory', [1700000000, '1.5e+08'], drops)?.value).toBe(150_000_000);
    expect(drops.counts).toEqual({});
  });

  it.each([
    [[1700000000, 'NaN'], 'NotANumber'],
    [[1700000000, '+Inf'], 'NotANumber'],
    [[1700000000, ''], 'NotANumber'],
    [[1700000000], 'NotANumber'],
    [['1700000000', '1'], 'NotANumber'],
    [{ count: 3 }, 'NotANumber'],
    [undefined, 'NotANumber'],
    [[1700000000, '-0.5'], 'OutOfRange'],
    [[1700000000, '1e300'], 'OutOfRange'],
  ])('%j is none: %s', (value, reason) => {
    const drops = new DropCount();
    expect(readPoint('cpu', value, drops)).toBeNull();
    expect(drops.counts).toEqual({ [reason]: 1 });
  });

  it('is finite and not negative, or left out and counted', () => {
    const any = fc.oneof(
      fc.jsonValue(),
      fc.tuple(fc.double(), fc.oneof(fc.string(), fc.double().map(String))),
    );
    fc.assert(
      fc.property(any, fc.constantFrom('cpu' as const, 'memory' as const), (value, resource) => {
        const drops = new DropCount();
        const point = readPoint(resource, value, drops);
        if (point === null) {
          expect(Object.values(drops.counts)).toEqual([1]);
        } else {
          expect(Number.isFinite(point.value) && point.value >= 0).toBe(true);
          expect(drops.counts).toEqual({});
        }
      }),
      { numRuns },
    );
  });
});
