import { describe, expect, it } from '@jest/globals';
import { resizable, size } from '../testing/resizing.ts';
import { readResizablePod } from './resizable-pod.ts';

describe('a pod as it is resized', () => {
  it('has its containers with what they ask for, are given, and use at most', () => {
    const pod = readResizablePod({
      metadata: { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7', generation: 3 },
      spec: {
        nodeName: 'n1',
        initContainers: [{ name: 'proxy', restartPolicy: 'Always' }, { name: 'setup' }],
        containers: [
          {
            name: 'app',
            resources: { requests: { cpu: '0.2', memory: '1Ki' }, limits: { memory: '2Ki' } },
            resizePolicy: [
              { resourceName: 'cpu', restartPolicy: 'NotRequired' },
              { resourceName: 'memory', restartPolicy: 'RestartContainer' },
            ],
          },
        ],
      },
      status: {
        phase: 'Running',
        qosClass: 'Burstable',
        observedGeneration: 2,
        conditions: [
          { type: 'PodResizePending', status: 'True', reason: 'Deferred', message: 'full' },
          { type: 'PodResizeInProgress', status: 'False' },
        ],
        containerStatuses: [
          {
            name: 'app',
            allocatedResources: { cpu: '100m' },
            resources: { requests: { cpu: '100m' }, limits: { memory: '2Ki' } },
          },
        ],
      },
    });
    expect(pod).toMatchObject({
      generation: 3,
      observedGeneration: 2,
      node: 'n1',
      qos: 'Burstable',
      pending: { reason: 'Deferred', message: 'full' },
      inProgress: null,
    });
    expect(pod.containers.map(({ name, kind }) => [name, kind])).toEqual([
      ['proxy', 'sidecar'],
      ['setup', 'init'],
      ['app', 'container'],
    ]);
    expect(pod.containers[2]).toEqual({
      name: 'app',
      kind: 'container',
      spec: size({ cpu: 200, memory: 1_024 }, { memory: 2_048 }),
      allocated: { cpu: 100 },
      actual: size({ cpu: 100 }, { memory: 2_048 }),
      restartsFor: ['memory'],
    });
  });

  it('names who resized it last', () => {
    const by = (manager: string, time: string, subresource = 'resize') => ({ manager, time, subresource });
    const managedFields = [
      by('spotalis-rightsizing', '2026-01-01T00:00:02Z'),
      by('kubectl', '2026-01-01T00:00:01Z'),
      by('kubelet', '2026-01-01T00:00:03Z', 'status'),
    ];
    expect(resizable({}, { metadata: { managedFields } }).lastResizedBy).toBe('spotalis-rightsizing');
    expect(resizable({}).lastResizedBy).toBeNull();
  });

  it('says what a kubelet leaves out as unknown', () => {
    const pod = resizable({ app: {} }, { status: { containerStatuses: null } });
    expect(pod).toMatchObject({ generation: null, observedGeneration: null });
    expect(pod.containers[0]).toMatchObject({ allocated: null, actual: null });
  });
});
