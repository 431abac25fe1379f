import { describe, expect, it } from '@jest/globals';
import { admitPod } from './admit.ts';
import { readCapacity } from './configured.ts';

const placement = {
  tolerations: [],
  nodeAffinity: { spot: [{ key: 'disk', operator: 'In', values: ['ssd'] }], onDemand: [] },
  assumeLabels: false,
  spreadSpotOverZones: false,
} as const;

describe('configured capacity', () => {
  it('sends pods to nodes that meet the extra affinity of their type, too', () => {
    const reading = readCapacity({ nodeLabels: { spot: ['a=s'], onDemand: ['a=o'] }, placement });
    if (!reading.ok) throw new Error('not read');
    const written = (type: 'spot' | 'on-demand') => {
      const admission = { type, numbers: { spotPercentage: 50, minOnDemand: 0 }, substitute: false } as const;
      const { operations } = admitPod(
        { spec: {} },
        { ...admission, place: { kind: 'ordinal' } },
        reading.value.placement,
      );
      return JSON.stringify(operations);
    };
    expect(written('spot')).toContain('"key":"disk","operator":"In","values":["ssd"]');
    expect(written('on-demand')).not.toContain('disk');
  });

  it('is refused with what is wrong about the labels', () => {
    const reading = readCapacity({ nodeLabels: { spot: ['a=s'], onDemand: [] }, placement });
    expect(reading).toMatchObject({ ok: false, problems: [{ key: 'nodeLabels.onDemand' }] });
  });
});
