import { describe, expect, it } from '@jest/globals';
import { Writable } from 'node:stream';
import { createLogger, type LogLevel } from './logger.ts';
import { maskPasswords } from './redact.ts';

const now = (): number => Date.parse('2026-01-02T03:04:05.678Z');

function recorded(format: 'json' | 'text' = 'json', level: LogLevel = 'info') {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  return { lines, logger: createLogger({ service: 'controller', level, format, stream, now }) };
}

const parsed = (line: string | undefined): unknown => JSON.parse(line ?? '');

describe('a JSON line', () => {
  it('holds time, level, message, service and the fields', () => {
    const { lines, logger } = recorded();
    logger.info('moved a pod', { workload: 'shop/web', moves: 2 });
    expect(lines).toEqual([
      '{"timestamp":"2026-01-02T03:04:05.678Z","level":"info","message":"moved a pod","service":"controller","workload":"shop/web","moves":2}\n',
    ]);
  });

  it('spells out an error with its code, stack and cause', () => {
    const { lines, logger } = recorded();
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    logger.error('failed', {
      error: Object.assign(new TypeError('no answer', { cause }), { code: 'LEDGER_UNAVAILABLE' }),
    });
    expect(parsed(lines[0])).toMatchObject({
      message: 'failed',
      error: {
        name: 'TypeError',
        message: 'no answer',
        code: 'LEDGER_UNAVAILABLE',
        stack: expect.stringContaining('logger.test.ts'),
        cause: { code: 'ECONNREFUSED', message: 'refused' },
      },
    });
  });

  it('does not let a field take the place of its own names', () => {
    const { lines, logger } = recorded();
    logger.info('real', { message: 'other', level: 'error', service: 'x' });
    expect(parsed(lines[0])).toMatchObject({
      message: 'real',
      level: 'info',
      message_: 'other',
      level_: 'error',
      service_: 'x',
    });
  });

  it('survives cycles, big integers, maps and dates', () => {
    const { lines, logger } = recorded();
    const cycle: Record<string, unknown> = { big: 10n, map: new Map([['a', 1]]), at: new Date(0) };
    cycle['self'] = cycle;
    logger.info('odd', { cycle });
    expect(parsed(lines[0])).toMatchObject({
      cycle: { big: '10', map: { a: 1 }, at: '1970-01-01T00:00:00.000Z' },
    });
  });

  it('never holds a secret', () => {
    const { lines, logger } = recorded();
    const error = new Error('cannot reach redis://u:hunter2@redis:6379');
    logger.child({ token: 'hunter2' }).info('via rediss://:hunter2@r', {
      password: 'hunter2',
      headers: [{ Authorization: 'Bearer hunter2' }],
      privateKey: 'hunter2',
      passwordFile: '/etc/redis/password',
      error,
    });
    expect(lines.join()).not.toContain('hunter2');
    expect(parsed(lines[0])).toMatchObject({ token: '********', passwordFile: '/etc/redis/password' });
  });
});

describe('a password in a URL', () => {
  it.each([
    ['redis://:hunter2/def+ghi@host:6379', 'redis://:********@host:6379'],
    ['redis://u:p@hunter2@host', 'redis://u:********@host'],
    ['redis://u@x:hunter2@host', 'redis://u@x:********@host'],
    ['at redis://u:hunter2@host, for a@b', 'at redis://u:********@host, for a@b'],
    ['https://host:443/path', 'https://host:443/path'],
    ['file:///a@1/b.js:1:2@c', 'file:///a@1/b.js:1:2@c'],
  ])('is masked up to the last @ of the word: %s', (text, written) => {
    expect(maskPasswords(text)).toBe(written);
  });
});

it('masks long texts of others in no time', () => {
  // Minutes by a rule that tries every @ for every URL, or every letter for the beginning of one.
  for (const text of ['http://h:80/x,'.repeat(40_000), `${'a'.repeat(400_000)}://`]) {
    expect(maskPasswords(text)).toBe(text);
  }
});

describe('the level', () => {
  it('can be changed while running, for children that exist already too', () => {
    const { lines, logger } = recorded();
    const child = logger.child({ part: 'queue' });
    child.debug('unseen');
    logger.setLevel('debug');
    child.debug('seen');
    logger.setLevel('error');
    child.warn('unseen');
    expect(lines.map((line) => parsed(line))).toMatchObject([{ message: 'seen', part: 'queue' }]);
  });
});

describe('a text line', () => {
  it('is one a person reads, the stack below', () => {
    const { lines, logger } = recorded('text');
    const error = Object.assign(new Error('boom'), { code: 'CODE', stack: 'Error: boom\n  at x' });
    logger.warn('it failed', { workload: 'shop/web', reason: 'two words', error });
    expect(lines.join('')).toBe(
      [
        '2026-01-02T03:04:05.678Z WARN  controller: it failed  workload=shop/web  reason="two words"  error="CODE"',
        '    Error: boom',
        '      at x',
        '',
      ].join('\n'),
    );
  });
});
