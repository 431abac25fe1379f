import { describe, expect, it } from '@jest/globals';
import { RefusedAnnotations } from './refused.ts';

describe('an annotation that was refused', () => {
  it('is written again ever more seldom, until it went well', () => {
    const refusals = new RefusedAnnotations(() => 0);
    const untilMs = (): number | undefined => {
      refusals.refused('web', { pod: 'web-1', message: 'no' }, 0);
      return refusals.of('web', 0)?.untilMs;
    };
    expect([untilMs(), untilMs()]).toEqual([5_000, 10_000]);
    expect(refusals.of('web', 9_999)).toMatchObject({
      reason: 'AnnotationRefused',
      message: expect.stringContaining('web-1'),
    });
    expect(refusals.of('web', 10_000)).toBeNull();
    refusals.forget('web');
    expect(refusals.of('web', 0)).toBeNull();
    expect(untilMs()).toBe(5_000);
  });
});
