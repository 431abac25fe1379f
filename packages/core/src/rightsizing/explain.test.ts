import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { actingWith, snapshots, snapshotWith } from '../testing/rightsizing.ts';
import { MiB, NOON_MS, sizingWith } from '../testing/usage.ts';
import { decideSizes } from './decide.ts';
import { explainSizes } from './explain.ts';
import { rightsizingReasons } from './reason.ts';
import { changeOf, countsOf, savingOf } from './savings.ts';

describe('the explanation of a size', () => {
  it('tells usage, percentile, factor, bounds, guards and what holds it', () => {
    const { trace } = decideSizes(snapshotWith({ dryRun: true }), NOON_MS);
    expect(explainSizes(trace, sizingWith())).toEqual([
      'Recommended: DryRun: `rightsizing.dryRun` is on: recommendations are written to the status only.',
      'Container app: 1440 minutes of usage.',
      '  CPU: P90 is 400m, times 1.2 is 480m; within 50m to 4000m the recommendation is 480m.',
      '  CPU: the target goes from 1000m to 480m. Decreased: the target is lower than before.',
      '  memory: P90 is 300Mi, times 1.2 is 360Mi; within 64Mi to 8192Mi the recommendation is 360Mi.',
      '  memory: 360Mi becomes 400Mi. HeldAtPeak: a memory request does not fall below the highest usage of the window, today and yesterday.',
      '  memory: the target goes from 1024Mi to 400Mi. Decreased: the target is lower than before.',
      '2 pods: Resizing: the pod is resized in place.',
    ]);
  });

  it('says why a pod is not resized in place', () => {
    const policy = actingWith({ updateStrategy: { allowInPlaceResize: false } });
    const { trace } = decideSizes(snapshotWith({ policy }), NOON_MS);
    expect(explainSizes(trace, sizingWith()).at(-1)).toContain(
      'Not in place: `allowInPlaceResize` is false.',
    );
  });

  it('has words for every decision', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        const { trace } = decideSizes(snapshot, NOON_MS);
        const sizing = snapshot.policy.kind === 'acting' ? snapshot.policy.sizing : sizingWith();
        for (const line of explainSizes(trace, sizing))
          expect(line).not.toMatch(/undefined|NaN|null|\[object/);
      }),
      { numRuns: 200 },
    );
    for (const { means, remedy } of Object.values(rightsizingReasons))
      expect(`${means}${remedy ?? ''}`).not.toMatch(/[.;]$/);
  });
});

describe('the savings of a policy', () => {
  it('are what the template requests in all pods, less what the targets do', () => {
    const { trace } = decideSizes(snapshotWith(), NOON_MS);
    expect(savingOf(trace.containers, 3)).toEqual({ cpu: 1560, memory: 1872 * MiB });
    expect(changeOf(trace.containers)).toBeCloseTo(624 / 1024);
    expect(countsOf([trace, { ...trace, state: 'Applied' }], 1)).toEqual({
      selected: 2,
      applied: 1,
      applying: 1,
      skipped: 0,
      conflicting: 1,
    });
  });
});
