import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { LineCutter } from './lines.ts';

const numRuns = Number(process.env['SPOTALIS_PROPERTY_RUNS'] ?? 1000);

describe('LineCutter', () => {
  it('finds the same lines however the bytes are cut, in the middle of characters too', () => {
    const line = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' '));
    fc.assert(
      fc.property(
        fc.array(line),
        fc.string({ unit: 'binary-ascii' }),
        fc.array(fc.nat(20)),
        (lines, rest, sizes) => {
          const tail = rest.replaceAll('\n', ' ');
          const bytes = Buffer.from(lines.map((one) => `${one}\n`).join('') + tail);
          const cutter = new LineCutter();
          const found: string[] = [];
          let start = 0;
          for (const size of [...sizes, bytes.length]) {
            found.push(...cutter.push(bytes.subarray(start, start + size)));
            start += size;
          }
          expect(found).toEqual(lines.map((one) => Buffer.from(one).toString()));
        },
      ),
      { numRuns },
    );
  });

  it('never shows a line that was cut off', () => {
    const cutter = new LineCutter();
    expect([...cutter.push(Buffer.from('{"a":1}\n{"b"'))]).toEqual(['{"a":1}']);
  });
});
