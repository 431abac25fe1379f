import { describe, expect, it } from '@jest/globals';
import { benchmarkPage } from './document.ts';
import type { BenchResult } from './results.ts';
import { formatCell, plainTable } from './table.ts';

const result: BenchResult = {
  name: 'core',
  title: 'The rule itself',
  startedAt: '2026-01-02T03:04:05.000Z',
  seconds: 12.4,
  quick: false,
  machine: { cpu: 'A processor', cores: 2, memoryGiB: 8, system: 'Linux 6.1', node: '24.0.0' },
  baseline: 'an empty loop.',
  tables: [
    {
      title: 'One decision',
      method: 'Median of 15 rounds.',
      columns: [
        { key: 'size', title: 'Burst' },
        { key: 'ns', title: 'ns' },
      ],
      rows: [
        { size: '50 | 20', ns: 12.345 },
        { size: 'none', ns: null },
      ],
    },
  ],
};

const pageOf = (results: readonly BenchResult[], former = '') =>
  benchmarkPage(['The rule itself', 'The ledger'], results, former);

describe('the page of results', () => {
  it('keeps what was measured elsewhere, and takes over what was measured anew', () => {
    const ledger = { ...result, name: 'ledger', title: 'The ledger' };
    const former = pageOf([{ ...result, seconds: 99 }, ledger]);
    expect(pageOf([result], former)).toBe(pageOf([result, ledger]));
    expect(pageOf([], former)).toBe(former);
  });

  it('says what was measured, against what, how and where', () => {
    expect(pageOf([result])).toMatch(
      /## The rule itself\n\n`npm run bench -- core` on 2026-01-02, 12 s, 2 cores \(A processor\), 8 GiB, Linux 6\.1, Node 24\.0\.0\.\n\nCompared with: an empty loop\.\n\n### One decision\n\n\| Burst \| ns \|\n\|---\|--:\|\n\| 50 \\\| 20 \| 12\.3 \|\n\| none \| – \|\n\nMedian of 15 rounds\.\n$/,
    );
  });

  it('warns of a quick run', () => {
    expect(pageOf([{ ...result, quick: true }])).toContain('**A quick run');
    expect(pageOf([result])).not.toContain('quick run');
  });
});

describe('a cell', () => {
  it.each([
    [1234, '1,234'],
    [0, '0'],
    [0.123456, '0.123'],
    [0.00123456, '0.0012'],
    [1.5, '1.50'],
    [123.456, '123'],
    [Number.NaN, '–'],
    ['as it is', 'as it is'],
  ])('of %p reads %p', (cell, text) => {
    expect(formatCell(cell)).toBe(text);
  });
});

it('sets numbers flush right in plain text', () => {
  const [table] = result.tables;
  expect(table && plainTable(table)).toBe('Burst      ns\n50 | 20  12.3\nnone        –');
});
