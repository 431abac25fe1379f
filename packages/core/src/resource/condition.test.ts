import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { propertyRuns } from '../testing/arbitraries.ts';
import { type Condition, type Finding, mergeConditions } from './condition.ts';

const start = Date.UTC(2026, 0, 1);
const look = (generation: number, seconds: number) => ({ generation, nowMs: start + seconds * 1_000 });
const ready = (status: Finding['status'], reason = 'AsExpected'): Finding => ({
  type: 'Ready',
  status,
  reason,
  message: 'All is well.',
});

const finding = fc.record({
  type: fc.constantFrom(...Array.from({ length: 20 }, (_, index) => `Type${index}`)),
  status: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
  reason: fc.constantFrom('One', 'Other'),
  message: fc.constantFrom('', 'All is well.', 'long '.repeat(205), ` ${'\u{1f680}'.repeat(1_030)}`),
});
const findings = fc.uniqueArray(finding, { selector: ({ type }) => type, maxLength: 16 });
const looks = fc.array(fc.record({ findings, generation: fc.nat(5), seconds: fc.nat(1_000) }), {
  minLength: 1,
  maxLength: 4,
});

describe('the conditions of a status', () => {
  it('keep the time of the last change of status', () => {
    const first = mergeConditions([], [ready('True')], look(1, 0));
    const second = mergeConditions(first, [ready('True', 'StillSo')], look(2, 60));
    const third = mergeConditions(second, [ready('False')], look(2, 120));
    expect(second).toMatchObject([
      { reason: 'StillSo', observedGeneration: 2, lastTransitionTime: '2026-01-01T00:00:00Z' },
    ]);
    expect(third).toMatchObject([{ status: 'False', lastTransitionTime: '2026-01-01T00:02:00Z' }]);
  });

  it('are the very same list where there is nothing to write', () => {
    const first = mergeConditions([], [ready('True')], look(1, 0));
    expect(mergeConditions(first, [ready('True')], look(1, 60))).toBe(first);
  });

  it('hold to their laws in any sequence of looks', () => {
    fc.assert(
      fc.property(looks, (sequence) => {
        let present: readonly Condition[] = [];
        for (const { findings: found, generation, seconds } of sequence) {
          const now = look(generation, seconds);
          const merged = mergeConditions(present, found, now);
          const types = merged.map(({ type }) => type);
          expect(types).toEqual([...new Set(types)].toSorted());
          expect(merged.length).toBeLessThanOrEqual(16);
          expect(merged.length).toBe(
            Math.min(16, new Set([...present, ...found].map(({ type }) => type)).size),
          );
          for (const { type, status } of found) {
            const before = present.find((each) => each.type === type);
            const after = merged.find((each) => each.type === type);
            expect(after).toMatchObject({ status, observedGeneration: generation });
            const message = after?.message ?? '';
            expect(Array.from(message).length).toBeLessThanOrEqual(1_024);
            // Whole characters, so that the API server returns what it was given.
            expect(Buffer.from(message).toString()).toBe(message);
            const hasChanged = after?.lastTransitionTime !== before?.lastTransitionTime;
            if (before?.status === status) expect(hasChanged).toBe(false);
            else expect(after?.lastTransitionTime).toBe(`${new Date(now.nowMs).toISOString().slice(0, 19)}Z`);
          }
          const isFound = new Set(found.map(({ type }) => type));
          for (const each of merged) if (!isFound.has(each.type)) expect(present).toContain(each);
          expect(mergeConditions(merged, found, look(generation, seconds + 1))).toBe(merged);
          present = merged;
        }
      }),
      propertyRuns,
    );
  });
});
