import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { type Annotations, resizeKeys } from '../policy/keys.ts';
import { propertyRuns } from '../testing/arbitraries.ts';
import { actuated, free, patched, resizable, size } from '../testing/resizing.ts';
import { owesNothing, ownerOf, readOriginals, rememberedValue, writeOriginals } from './ownership.ts';
import { nextStep } from './step.ts';

const key = resizeKeys.originalCpuLimits;
const covered = { covers: () => true, originals: new Map<string, number>() };

describe('an amount', () => {
  it('is of right-sizing, but for the CPU limit of a container that allocation covers or has lent to', () => {
    expect(ownerOf('app', 'limits', 'cpu', covered)).toBe('allocation');
    expect(ownerOf('app', 'requests', 'cpu', covered)).toBe('rightsizing');
    expect(ownerOf('app', 'limits', 'memory', covered)).toBe('rightsizing');
    const lent = { covers: () => false, originals: new Map([['app', 500]]) };
    expect(ownerOf('app', 'limits', 'cpu', lent)).toBe('allocation');
    expect(ownerOf('log', 'limits', 'cpu', lent)).toBe('rightsizing');
    expect(ownerOf('app', 'limits', 'cpu', { ...lent, originals: null })).toBe('allocation');
  });
});

describe('original limits', () => {
  it('are read as they were written, and as people write them', () => {
    const originals = new Map([
      ['app', 500],
      ['log', 1_000],
    ]);
    expect(readOriginals({ [key]: writeOriginals(originals) })).toEqual(originals);
    expect(readOriginals({ [key]: '{"app":"0.5","log":"1"}' })).toEqual(originals);
    expect(readOriginals({})).toEqual(new Map());
  });

  it.each(['', 'null', '[]', '{"app":500}', '{"app":"much"}', '{"app":"0"}'])(
    'are not known where the annotation is %j',
    (text) => {
      expect(readOriginals({ [key]: text })).toBeNull();
    },
  );

  it('stay when more is lent, and are added for another container', () => {
    const annotations = { [key]: '{"app":"500m"}' };
    expect(rememberedValue(annotations, { annotation: key, value: '{"app":"900m","log":"100m"}' })).toBe(
      '{"app":"500m","log":"100m"}',
    );
    expect(rememberedValue(annotations, { annotation: 'other', value: 'as it is' })).toBe('as it is');
  });
});

const operation = fc.oneof(
  fc.record({ do: fc.constant('lend' as const), to: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ do: fc.constant('rightsize' as const), to: fc.integer({ min: 1, max: 40 }) }),
  fc.constantFrom(
    { do: 'giveBack' as const },
    { do: 'cover' as const },
    { do: 'uncover' as const },
    // The leader dies after the annotation is written, or before it is removed.
    { do: 'lendHalf' as const },
    { do: 'giveBackHalf' as const },
  ),
);

describe('in any interleaving of right-sizing, loans, policies and deaths', () => {
  it('a CPU limit is never below its original, and is what right-sizing or the owner last wrote after the end', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 30 }), (operations) => {
        let pod = resizable({ app: { requests: { cpu: '10m' }, limits: { cpu: '500m' } } });
        let owed = 500;
        let isCovered = false;
        const limit = () => pod.containers[0]!.spec.limits['cpu']!;
        const annotate = (annotations: Annotations) => {
          pod = { ...pod, annotations };
        };
        /** As the executor does: the guards, the annotation, the patch. */
        const resize = (
          module: 'rightsizing' | 'allocation',
          to: number,
          { forget = false, dies = false } = {},
        ) => {
          const remember = { annotation: key, value: writeOriginals(new Map([['app', limit()]])) };
          const around = { ...free, allocationCovers: () => isCovered };
          const ask = {
            module,
            purpose: forget ? ('restore' as const) : ('size' as const),
            to: new Map([['app', size({}, { cpu: to })]]),
            originals: readOriginals(pod.annotations),
          };
          const step = nextStep(pod, ask, around);
          if (step.kind === 'held') return;
          if (step.kind === 'send') {
            if (module === 'allocation' && !forget)
              annotate({ ...pod.annotations, [key]: rememberedValue(pod.annotations, remember) });
            if (dies && !forget) return;
            pod = actuated(patched(pod, step.sizes));
            if (module === 'rightsizing') owed = to;
          }
          if (forget && !dies && owesNothing(pod, readOriginals(pod.annotations))) annotate({});
        };
        const original = () => readOriginals(pod.annotations)?.get('app') ?? limit();
        for (const one of operations) {
          if (one.do === 'cover') isCovered = true;
          else if (one.do === 'uncover') isCovered = false;
          else if (one.do === 'lend') resize('allocation', one.to * 50);
          else if (one.do === 'lendHalf') resize('allocation', limit() * 2, { dies: true });
          else if (one.do === 'rightsize') resize('rightsizing', one.to * 50);
          else resize('allocation', original(), { forget: true, dies: one.do === 'giveBackHalf' });
          expect(limit()).toBeGreaterThanOrEqual(owed);
        }
        isCovered = false;
        resize('allocation', original(), { forget: true });
        expect({ limit: limit(), annotations: pod.annotations }).toEqual({ limit: owed, annotations: {} });
      }),
      propertyRuns,
    );
  });
});
