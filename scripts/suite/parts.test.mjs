import { appendFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { prepareParts } from './parts.mjs';
import { Record } from './record.mjs';

const { signal: ending } = new AbortController();

describe('the parts of the tests', () => {
  it('are got one after another, and the record has what each program took', async () => {
    const record = new Record();
    const asked = [];
    const runProgram = (command, [script, name], { env }) => {
      asked.push(`${command} ${script} ${name}`);
      if (name === 'test-cold')
        for (const what of ['building one', 'building other'])
          appendFileSync(env.SPOTALIS_PROGRAMS_FILE, `${JSON.stringify({ what, seconds: 123 })}\n`);
      return Promise.resolve(name === 'test-missing' ? 1 : 0);
    };
    const parts = prepareParts(['test-warm', 'test-cold', 'test-missing'], { ending, record, runProgram });
    expect(await Promise.all(Object.values(parts))).toEqual([true, true, false]);
    expect(asked).toEqual(
      ['test-warm', 'test-cold', 'test-missing'].map((name) => `node e2e/cluster/prepare.ts ${name}`),
    );
    expect(record.table()).toContain(
      'Programs:\n    123.0 s  test-cold: building one\n    123.0 s  test-cold: building other',
    );
  });

  it('cost nothing where they are in the cache', async () => {
    const record = new Record();
    const parts = prepareParts(['test-warm'], { ending, record, runProgram: () => Promise.resolve(0) });
    expect(await parts['test-warm']).toBe(true);
    expect(record.table()).toContain('Programs: all that was needed was in the cache');
  });
});
