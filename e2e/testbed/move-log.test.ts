import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { AuditLog } from '@spotalis/cluster';
import { MoveLog } from './move-log.ts';

const folder = mkdtempSync(join(tmpdir(), 'spotalis-moves-'));
afterAll(() => rmSync(folder, { recursive: true }));

const event = (second: number, username: string, verb: string, name: string, more: object = {}): object => ({
  verb,
  user: { username },
  objectRef: { resource: 'pods', namespace: 'shop', name, ...more },
  responseStatus: { code: 200 },
  requestReceivedTimestamp: new Date(second * 1_000).toISOString(),
});
const eviction = (second: number, name: string, code: number): object => ({
  ...event(second, 'controller', 'create', name, { subresource: 'eviction' }),
  responseStatus: { code },
});
const ended = (second: number, name: string) => event(second, 'kwok', 'delete', name);
const started = (second: number, name: string) =>
  event(second, 'kwok', 'patch', name, { subresource: 'status' });

function read(events: readonly object[]): MoveLog {
  const file = join(folder, 'audit.log');
  writeFileSync(file, events.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return new MoveLog(new AuditLog(file));
}

it('counts an eviction whose asker was gone by what became of the pod', () => {
  const log = read([
    eviction(1, 'a-1-x', 201),
    ended(2, 'a-1-x'),
    started(3, 'a-1-y'),
    // Carried out all the same.
    eviction(4, 'b-1-x', 504),
    ended(5, 'b-1-x'),
    started(6, 'b-1-y'),
    // Not carried out, and never again asked for.
    eviction(7, 'c-1-x', 504),
    // Not carried out before somebody else asked.
    eviction(8, 'd-1-x', 504),
    eviction(9, 'd-1-x', 201),
    ended(10, 'd-1-x'),
    eviction(11, 'e-1-x', 429),
  ]);
  expect(log.moves.map(({ workload, fromMs, toMs }) => [workload, fromMs, toMs])).toEqual([
    ['shop/a', 1_000, 3_000],
    ['shop/b', 4_000, 6_000],
    ['shop/d', 9_000, Number.POSITIVE_INFINITY],
  ]);
  expect(log.cutShort).toBe(2);
});
