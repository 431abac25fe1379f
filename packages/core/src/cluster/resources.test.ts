import { describe, expect, it } from '@jest/globals';
import { addResources, hasRoom, podRequests, readAllocatable, subtractResources } from './resources.ts';

const container = (cpu: string, memory: string, restartPolicy?: string) => ({
  resources: { requests: { cpu, memory } },
  ...(restartPolicy === undefined ? {} : { restartPolicy }),
});

describe('what a pod requests', () => {
  it('is the sum of its containers, and one pod', () => {
    const spec = { containers: [container('100m', '1Gi'), container('0.2', '1Gi')] };
    expect(podRequests(spec)).toEqual({ cpu: 300, memory: 2 ** 31, pods: 1 });
    expect(podRequests({})).toEqual({ pods: 1 });
  });

  it('is at least what the greatest init container needs', () => {
    const spec = {
      containers: [container('100m', '1Gi')],
      initContainers: [container('1', '1Mi'), container('2', '1Mi')],
    };
    expect(podRequests(spec)).toEqual({ cpu: 2000, memory: 2 ** 30, pods: 1 });
  });

  it('holds sidecars beside the containers, and beside the init containers after them', () => {
    const initContainers = [container('1', '0'), container('200m', '0', 'Always'), container('900m', '0')];
    expect(podRequests({ containers: [container('100m', '0')], initContainers })['cpu']).toBe(1100);
    expect(podRequests({ containers: [container('1', '0')], initContainers })['cpu']).toBe(1200);
  });

  it('goes by the requests of the whole pod, and adds the overhead', () => {
    const spec = {
      containers: [container('100m', '1Gi')],
      resources: { requests: { cpu: '2' } },
      overhead: { cpu: '250m' },
    };
    expect(podRequests(spec)).toEqual({ cpu: 2250, memory: 2 ** 30, pods: 1 });
  });

  it('is a limit where nothing is requested, as the API server has it for pods, of which templates know nothing', () => {
    const limits = { cpu: '4', 'nvidia.com/gpu': '1' };
    expect(podRequests({ containers: [{ resources: { limits } }] })).toEqual({
      cpu: 4000,
      'nvidia.com/gpu': 1,
      pods: 1,
    });
    expect(podRequests({ containers: [{ resources: { limits, requests: { cpu: '1' } } }] })['cpu']).toBe(
      1000,
    );
    const ofPod = { resources: { limits: { cpu: '2', memory: '1Gi' } } };
    expect(podRequests({ containers: [container('100m', '0')], ...ofPod })).toEqual({
      cpu: 100,
      memory: 0,
      pods: 1,
    });
    expect(podRequests({ containers: [{}], ...ofPod })).toEqual({ cpu: 2000, memory: 2 ** 30, pods: 1 });
  });

  it('is rounded up where room is rounded down', () => {
    expect(podRequests({ containers: [container('0.0001', '0')] })['cpu']).toBe(1);
    expect(readAllocatable({ cpu: '3920.5m', memory: '7Gi', pods: '110' })).toEqual({
      cpu: 3920,
      memory: 7 * 2 ** 30,
      pods: 110,
    });
    // Not 300.00000000000006, which would be 301.
    expect(podRequests({ containers: [container('0.3', '0')] })['cpu']).toBe(300);
  });
});

describe('room', () => {
  it('is enough when nothing that is asked for is short', () => {
    expect(hasRoom({ cpu: 100, pods: 1 }, { cpu: 100, pods: 1 })).toBe(true);
    expect(hasRoom({ cpu: 99, pods: 1 }, { cpu: 100, pods: 1 })).toBe(false);
    expect(hasRoom({ cpu: 100 }, { cpu: 100, 'nvidia.com/gpu': 1 })).toBe(false);
    expect(hasRoom({ cpu: -5 }, { cpu: 0 })).toBe(true);
  });

  it('is what is left of the allocatable', () => {
    expect(
      subtractResources({ cpu: 1000, pods: 10 }, addResources({ cpu: 300, pods: 1 }, { cpu: 100, pods: 1 })),
    ).toEqual({
      cpu: 600,
      pods: 8,
    });
  });
});
