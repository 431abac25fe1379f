import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { preparePlacement } from '../capacity/placement.ts';
import { capacityTypes } from '../capacity/type.ts';
import { evidenceFor } from '../cluster/fit.ts';
import { noVolumes, type PodVolumes } from '../cluster/workload-pod.ts';
import { propertyRuns } from '../testing/arbitraries.ts';
import { everyNode, nodeLabelSets, podSpecs, schedulerAccepts } from '../testing/nodes.ts';
import { node, nodesOf, pod, settings, template } from '../testing/rebalance.ts';
import { placeholderManifest } from './manifest.ts';
import { readPlaceholderMark } from '../cluster/placeholder-mark.ts';
import { type PlaceholderShape, type ShapeQuestion, shapeOf, shapeText } from './shape.ts';

const zone = 'topology.kubernetes.io/zone';
const subject = { kind: 'Deployment', namespace: 'shop', name: 'web', uid: 'u1', type: 'spot' } as const;
const options = {
  namespace: 'spotalis-system',
  image: 'pause',
  priorityClass: 'last',
  owner: { name: 'c', uid: 'd1' },
};

function shape(change: Partial<ShapeQuestion> = {}): PlaceholderShape {
  const reading = shapeOf({
    template,
    to: 'spot',
    placement: settings.placement,
    nodes: new Map(),
    staying: [],
    volumes: noVolumes,
    namespace: 'shop',
    ...change,
  });
  if (reading.kind !== 'shape') throw new Error(reading.constraint);
  return reading.shape;
}

describe('a placeholder', () => {
  it('is accepted by exactly the nodes that would accept the pod', () => {
    const volumes: fc.Arbitrary<PodVolumes> = fc.constantFrom(noVolumes, {
      kind: 'bound',
      affinities: [
        [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }],
        [
          { matchExpressions: [{ key: 'b', operator: 'Exists' }] },
          { matchExpressions: [{ key: 'a', operator: 'In', values: ['s'] }] },
        ],
      ],
    });
    fc.assert(
      fc.property(
        nodeLabelSets,
        podSpecs,
        volumes,
        fc.constantFrom(...capacityTypes),
        (labels, spec, reach, to) => {
          const placement = preparePlacement(labels, {
            tolerations: [],
            affinity: { spot: [], 'on-demand': [] },
            spreadSpotOverZones: false,
          });
          const { topologySpreadConstraints: _none, ...plain } = spec;
          const question = { template: { ...template, spec: plain }, to, placement, volumes: reach };
          const { spec: placed } = placeholderManifest(subject, shape(question), options);
          for (const nodeLabels of everyNode) {
            const nodes = nodesOf({ ...node('n', to), labels: nodeLabels });
            const evidence = evidenceFor({ ...question, nodes, staying: [], room: 'free' });
            expect(schedulerAccepts(placed, nodeLabels)).toBe(evidence.kind === 'fits');
          }
        },
      ),
      propertyRuns,
    );
  });

  it('keeps away from zones that are full, since a spread is not counted across namespaces', () => {
    const spread = {
      ...template,
      spec: {
        topologySpreadConstraints: [
          {
            topologyKey: zone,
            maxSkew: 1,
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { app: 'web' } },
          },
        ],
      },
    };
    const nodes = nodesOf(
      node('spot-1', 'spot', { labels: { [zone]: 'a' } }),
      node('spot-2', 'spot', { labels: { [zone]: 'b' } }),
    );
    const inA = pod('s0', { nodeName: 'spot-1' });
    const member = {
      pod: inA,
      type: 'spot',
      onUnknownNode: false,
      rank: 0,
      cost: 0,
      ordinal: null,
      doom: null,
    } as const;
    expect(shape({ template: spread, nodes, staying: [member] }).nodeTerms).toEqual([
      {
        matchExpressions: [
          { key: zone, operator: 'Exists' },
          { key: zone, operator: 'NotIn', values: ['a'] },
        ],
      },
    ]);
  });

  it('keeps away from the pods of its workload as they do from each other', () => {
    const podAntiAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        {
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: { matchLabels: { app: 'web' } },
          matchLabelKeys: ['pod-template-hash'],
        },
      ],
    };
    expect(
      shape({ template: { ...template, spec: { affinity: { podAntiAffinity } } } }).antiAffinity,
    ).toEqual([
      {
        topologyKey: 'kubernetes.io/hostname',
        namespaces: ['shop'],
        labelSelector: {
          matchLabels: { app: 'web' },
          matchExpressions: [{ key: 'pod-template-hash', operator: 'In', values: ['r1'] }],
        },
      },
    ]);
  });

  it('cannot stand in for a pod that wants others beside it', () => {
    const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: zone }] };
    const reading = shapeOf({
      template: { ...template, spec: { affinity: { podAffinity } } },
      to: 'spot',
      placement: settings.placement,
      nodes: new Map(),
      staying: [],
      volumes: noVolumes,
      namespace: 'shop',
    });
    expect(reading).toEqual({ kind: 'notProvable', constraint: 'required podAffinity' });
  });
});

describe('its manifest', () => {
  const requests = { cpu: 1_500, memory: 2 ** 30, 'nvidia.com/gpu': 1, pods: 1 };

  it('asks for the same room, and limits what cannot be asked for without a limit', () => {
    const { spec } = placeholderManifest(subject, shape({ template: { ...template, requests } }), options);
    expect(spec.containers[0]?.resources).toEqual({
      requests: { cpu: '1500m', memory: '1073741824', 'nvidia.com/gpu': '1' },
      limits: { 'nvidia.com/gpu': '1' },
    });
  });

  it('is of the lowest priority, restricted, and goes with the controller', () => {
    const { spec, metadata } = placeholderManifest(subject, shape(), options);
    expect(spec).toMatchObject({
      priorityClassName: 'last',
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      nodeSelector: { 'karpenter.sh/capacity-type': 'spot' },
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [{ securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
    });
    expect(metadata.ownerReferences).toEqual([
      { apiVersion: 'apps/v1', kind: 'Deployment', name: 'c', uid: 'd1' },
    ]);
    expect(metadata.name.length).toBeLessThan(64);
  });

  it('says all that a new leader has to know', () => {
    const its = shape();
    const { metadata } = placeholderManifest(subject, its, options);
    expect(readPlaceholderMark(metadata.labels, metadata.annotations)).toEqual({
      workloadUid: 'u1',
      type: 'spot',
      shape: shapeText(its),
    });
    expect(readPlaceholderMark({ app: 'web' }, {})).toBeNull();
  });
});
