import { describe, expect, it } from '@jest/globals';
import { scaledOnBy, writtenByVpa } from './autoscaler.ts';

const web = { kind: 'Deployment', name: 'web' };
const hpa = (...metrics: readonly object[]) => ({
  spec: {
    scaleTargetRef: web,
    metrics: metrics.map((resource) => ({ type: 'Resource', resource: { name: 'cpu', ...resource } })),
  },
});

describe('a HorizontalPodAutoscaler', () => {
  it.each([
    ['without metrics', hpa(), ['cpu']],
    ['on CPU utilization', hpa({ target: { type: 'Utilization' } }), ['cpu']],
    ['on memory utilization', hpa({ name: 'memory', target: { type: 'Utilization' } }), ['memory']],
    ['on an average value', hpa({ target: { type: 'AverageValue' } }), []],
  ])('scales %s', (_, one, resources) => {
    expect([...scaledOnBy([one], web)]).toEqual(resources);
    expect([...scaledOnBy([one], { kind: 'StatefulSet', name: 'web' })]).toEqual([]);
  });

  it('scales on the utilization of a container', () => {
    const containerResource = { name: 'cpu', container: 'app', target: { type: 'Utilization' } };
    const spec = { scaleTargetRef: web, metrics: [{ type: 'ContainerResource', containerResource }] };
    expect([...scaledOnBy([{ spec }], web)]).toEqual(['cpu']);
  });
});

describe('a VerticalPodAutoscaler', () => {
  const vpa = (spec: object) => [{ spec: { targetRef: web, ...spec } }];
  const policies = (...containerPolicies: readonly object[]) =>
    vpa({ resourcePolicy: { containerPolicies } });

  it.each([
    ['everything by default', vpa({}), ['cpu', 'memory']],
    ['at creation only', vpa({ updatePolicy: { updateMode: 'Initial' } }), ['cpu', 'memory']],
    ['nothing while Off', vpa({ updatePolicy: { updateMode: 'Off' } }), []],
    ['what it controls', policies({ containerName: '*', controlledResources: ['memory'] }), ['memory']],
    ['no container that is off', policies({ containerName: 'app', mode: 'Off' }, { containerName: '*' }), []],
    ['others', policies({ containerName: 'other', mode: 'Off' }), ['cpu', 'memory']],
  ])('writes %s', (_, vpas, resources) => {
    expect([...writtenByVpa(vpas, web, 'app')]).toEqual(resources);
    expect([...writtenByVpa(vpas, { kind: 'Deployment', name: 'shop' }, 'app')]).toEqual([]);
  });
});
