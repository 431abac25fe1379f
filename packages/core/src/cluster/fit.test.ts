import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { admitPod } from '../capacity/admit.ts';
import { preparePlacement } from '../capacity/placement.ts';
import type { NodeSelectorTerm } from './pod-spec.ts';
import { capacityTypes } from '../capacity/type.ts';
import { propertyRuns } from '../testing/arbitraries.ts';
import { everyNode, nodeLabelSets, podSpecs, schedulerAccepts } from '../testing/nodes.ts';
import { applyPatch } from '../testing/patch.ts';
import {
  node,
  nodeLabels as karpenterLabels,
  nodesOf,
  pod,
  settings,
  template,
  typeKey,
} from '../testing/rebalance.ts';
import { concerns, type Evidence, evidenceFor, fitOf, type FitQuestion } from './fit.ts';
import { matchesPlacement } from './match.ts';
import type { NodeView } from './node.ts';
import { type Member, noVolumes } from './workload-pod.ts';
import type { SpreadConstraint, TemplateSpec } from './workload.ts';

const zoneKey = 'topology.kubernetes.io/zone';
const hostKey = 'kubernetes.io/hostname';

const ask = (nodes: readonly NodeView[], change: Partial<FitQuestion> = {}): Evidence =>
  evidenceFor({
    template,
    to: 'spot',
    placement: settings.placement,
    nodes: nodesOf(...nodes),
    staying: [],
    volumes: noVolumes,
    room: 'free',
    ...change,
  });
const withSpec = (spec: TemplateSpec): Partial<FitQuestion> => ({ template: { ...template, spec } });
const misfitOf = (evidence: Evidence): string =>
  evidence.kind === 'none' ? Object.keys(evidence.misfits).join() : evidence.kind;
const on = (nodeName: string, labels: Readonly<Record<string, string>> = { app: 'web' }): Member => ({
  pod: pod(`on-${nodeName}`, { nodeName, labels }),
  type: 'spot',
  onUnknownNode: false,
  rank: 0,
  cost: 0,
  ordinal: null,
  doom: null,
});
const required = (...nodeSelectorTerms: NodeSelectorTerm[]): TemplateSpec => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});

describe('selector and affinity', () => {
  it('are judged as the scheduler judges the admitted pod', () => {
    fc.assert(
      fc.property(
        nodeLabelSets,
        podSpecs,
        fc.constantFrom(...capacityTypes),
        fc.constantFrom(...everyNode),
        (nodeLabels, spec, type, labels) => {
          const placement = preparePlacement(nodeLabels, {
            tolerations: [],
            affinity: { spot: [], 'on-demand': [] },
            spreadSpotOverZones: false,
          });
          const numbers = { spotPercentage: 50, minOnDemand: 0 };
          const admission = { type, numbers, substitute: false, place: { kind: 'ordinal' } } as const;
          const before = { metadata: {}, spec };
          const admitted = applyPatch(before, admitPod(before, admission, placement).operations);
          const expected = schedulerAccepts(admitted.spec, labels);
          const view = { ...node('n', 'unknown'), labels };
          expect(matchesPlacement(view, spec, placement.byType[type])).toBe(expected);
        },
      ),
      propertyRuns,
    );
  });

  it('know numbers, names and terms that select nothing', () => {
    const big = node('big', 'spot', { labels: { cores: '16' } });
    const more = (values: string[]) =>
      required({ matchExpressions: [{ key: 'cores', operator: 'Gt', values }] });
    expect(ask([big], withSpec(more(['8'])))).toEqual({ kind: 'fits', node: 'big' });
    expect(misfitOf(ask([big], withSpec(more(['16']))))).toBe('Selector');
    expect(misfitOf(ask([big], withSpec(more(['many']))))).toBe('Selector');
    const less = required({ matchExpressions: [{ key: 'cores', operator: 'Lt', values: ['17'] }] });
    expect(ask([big], withSpec(less)).kind).toBe('fits');
    const named = (name: string) =>
      required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] });
    expect(ask([big], withSpec(named('big'))).kind).toBe('fits');
    expect(misfitOf(ask([big], withSpec(named('small'))))).toBe('Selector');
    expect(misfitOf(ask([big], withSpec(required({}))))).toBe('Selector');
  });

  it('go by the template and not by the pin of the pod that leaves', () => {
    const pinned = withSpec({ nodeSelector: { [typeKey]: 'on-demand' } });
    expect(ask([node('s', 'spot')], pinned).kind).toBe('fits');
  });
});

describe('a node', () => {
  it('must be of the type, Ready, and not about to go', () => {
    expect(ask([])).toEqual({ kind: 'none', readyNodes: 0, misfits: {} });
    for (const useless of [
      node('n', 'on-demand'),
      node('n', 'unknown'),
      node('n', 'spot', { ready: false }),
      node('n', 'spot', { cordoned: true }),
      node('n', 'spot', { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] }),
    ]) {
      expect(ask([useless])).toMatchObject({ kind: 'none', readyNodes: 0 });
    }
    expect(ask([node('n', 'on-demand'), node('s', 'spot')])).toEqual({ kind: 'fits', node: 's' });
  });

  it('must have room for the requests and for one more pod', () => {
    const full = { cpu: 99, memory: 2 ** 30, pods: 5 };
    expect(misfitOf(ask([node('s', 'spot', { free: full })]))).toBe('Room');
    expect(misfitOf(ask([node('s', 'spot', { free: { cpu: 500, memory: 2 ** 30, pods: 0 } })]))).toBe('Room');
    expect(ask([node('s', 'spot', { free: full })], { room: 'allocatable' }).kind).toBe('fits');
  });

  it('may have only taints that the pod tolerates, by itself or by the placement', () => {
    const tainted = (effect: string) =>
      node('s', 'spot', { taints: [{ key: 'spot', value: 'true', effect }] });
    expect(misfitOf(ask([tainted('NoSchedule')]))).toBe('Taint');
    expect(misfitOf(ask([tainted('NoExecute')]))).toBe('Taint');
    expect(ask([tainted('PreferNoSchedule')]).kind).toBe('fits');
    const tolerating = (toleration: object) =>
      ask([tainted('NoSchedule')], withSpec({ tolerations: [toleration] })).kind;
    expect(tolerating({ key: 'spot', value: 'true' })).toBe('fits');
    expect(tolerating({ key: 'spot', operator: 'Equal', value: 'false' })).toBe('none');
    expect(tolerating({ key: 'spot', operator: 'Exists' })).toBe('fits');
    expect(tolerating({ operator: 'Exists' })).toBe('fits');
    expect(tolerating({ operator: 'Exists', effect: 'NoExecute' })).toBe('none');
    const placement = preparePlacement(karpenterLabels, {
      tolerations: [{ key: 'spot', operator: 'Exists' }],
      affinity: { spot: [], 'on-demand': [] },
      spreadSpotOverZones: false,
    });
    expect(ask([tainted('NoSchedule')], { placement }).kind).toBe('fits');
  });

  it('must reach the volumes', () => {
    const inZone = (zone: string) => node(`s-${zone}`, 'spot', { labels: { [zoneKey]: zone } });
    const zonal = [{ matchExpressions: [{ key: zoneKey, operator: 'In' as const, values: ['b'] }] }];
    const volumes = { kind: 'bound', affinities: [zonal] } as const;
    expect(misfitOf(ask([inZone('a')], { volumes }))).toBe('Volume');
    expect(ask([inZone('a'), inZone('b')], { volumes })).toEqual({ kind: 'fits', node: 's-b' });
    expect(misfitOf(ask([inZone('a')], { volumes: { kind: 'unknown' } }))).toBe('Volume');
  });
});

describe('topology spread', () => {
  const spread = (change: Partial<SpreadConstraint> = {}): Partial<FitQuestion> =>
    withSpec({
      topologySpreadConstraints: [
        {
          topologyKey: zoneKey,
          maxSkew: 1,
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: 'web' } },
          ...change,
        },
      ],
    });
  const inZone = (name: string, zone: string, type: 'spot' | 'on-demand' = 'spot') =>
    node(name, type, { labels: { [zoneKey]: zone } });
  const full = (name: string, zone: string) =>
    Object.assign({}, inZone(name, zone), { free: { cpu: 0, memory: 0, pods: 0 } });

  it('keeps a pod off the zone that would get ahead', () => {
    const staying = [on('a')];
    expect(ask([inZone('a', '1'), inZone('b', '2')], { ...spread(), staying })).toEqual({
      kind: 'fits',
      node: 'b',
    });
    expect(misfitOf(ask([inZone('a', '1'), full('b', '2')], { ...spread(), staying }))).toBe('Spread,Room');
    expect(ask([inZone('a', '1'), full('b', '2')], { ...spread({ maxSkew: 2 }), staying }).kind).toBe('fits');
  });

  it('is a wish only with ScheduleAnyway', () => {
    const wish = spread({ whenUnsatisfiable: 'ScheduleAnyway' });
    expect(ask([inZone('a', '1'), full('b', '2')], { ...wish, staying: [on('a')] }).kind).toBe('fits');
  });

  it('looks only at nodes that the pod could go to, unless told otherwise', () => {
    const nodes = [inZone('a', '1'), inZone('o', '2', 'on-demand')];
    expect(ask(nodes, { ...spread(), staying: [on('a')] }).kind).toBe('fits');
    expect(misfitOf(ask(nodes, { ...spread({ nodeAffinityPolicy: 'Ignore' }), staying: [on('a')] }))).toBe(
      'Spread',
    );
  });

  it('skips tainted nodes when told to honour taints', () => {
    const tainted = Object.assign({}, inZone('b', '2'), { taints: [{ key: 'x', effect: 'NoSchedule' }] });
    const nodes = [inZone('a', '1'), tainted];
    expect(misfitOf(ask(nodes, { ...spread(), staying: [on('a')] }))).toBe('Spread,Taint');
    expect(ask(nodes, { ...spread({ nodeTaintsPolicy: 'Honor' }), staying: [on('a')] }).kind).toBe('fits');
  });

  it('counts missing domains as empty up to minDomains', () => {
    expect(misfitOf(ask([inZone('a', '1')], { ...spread({ minDomains: 2 }), staying: [on('a')] }))).toBe(
      'Spread',
    );
  });

  it('needs the label of the topology', () => {
    expect(misfitOf(ask([node('s', 'spot')], spread()))).toBe('Spread');
  });

  it('counts pods of its own revision only with matchLabelKeys', () => {
    const old = on('a', { app: 'web', 'pod-template-hash': 'r0' });
    const both = [inZone('a', '1'), full('b', '2')];
    expect(misfitOf(ask(both, { ...spread(), staying: [old] }))).toBe('Spread,Room');
    const keys = spread({ matchLabelKeys: ['pod-template-hash'] });
    expect(ask(both, { ...keys, staying: [old] }).kind).toBe('fits');
  });

  it('over hosts spreads as well', () => {
    const hosts = [node('a', 'spot'), node('b', 'spot')];
    const answer = ask(hosts, { ...spread({ topologyKey: hostKey }), staying: [on('a')] });
    expect(answer).toEqual({ kind: 'fits', node: 'b' });
  });
});

describe('required inter-pod affinity', () => {
  const anti = (change: object = {}): Partial<FitQuestion> =>
    withSpec({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: hostKey, labelSelector: { matchLabels: { app: 'web' } }, ...change },
          ],
        },
      },
    });

  it('against pods of its own kind is judged by them', () => {
    expect(ask([node('a', 'spot'), node('b', 'spot')], { ...anti(), staying: [on('a')] })).toEqual({
      kind: 'fits',
      node: 'b',
    });
    expect(misfitOf(ask([node('a', 'spot')], { ...anti(), staying: [on('a')] }))).toBe('AntiAffinity');
  });

  it('to anything else cannot be proven', () => {
    const unprovable = { kind: 'notProvable', constraint: 'required podAntiAffinity to other pods' };
    const nodes = [node('a', 'spot')];
    expect(ask(nodes, anti({ labelSelector: { matchLabels: { app: 'db' } } }))).toEqual(unprovable);
    expect(ask(nodes, anti({ labelSelector: null }))).toEqual(unprovable);
    expect(ask(nodes, anti({ namespaces: ['other'] }))).toEqual(unprovable);
    expect(ask(nodes, anti({ namespaceSelector: {} }))).toEqual(unprovable);
    const near = withSpec({
      affinity: {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: hostKey }] },
      },
    });
    expect(ask(nodes, near)).toEqual({ kind: 'notProvable', constraint: 'required podAffinity' });
  });

  it('by a port of the node, which other pods may have, cannot be proven', () => {
    const serving = { template: { ...template, hostPort: true } };
    expect(ask([node('a', 'spot')], serving)).toEqual({ kind: 'notProvable', constraint: 'a hostPort' });
  });
});

describe('many candidates of one workload', () => {
  const zonal = { matchExpressions: [{ key: zoneKey, operator: 'In' as const, values: ['1'] }] };
  const reaches = fc.constantFrom(
    noVolumes,
    { kind: 'unknown' } as const,
    { kind: 'bound', affinities: [[zonal]] } as const,
  );
  const topologies = fc.constantFrom(zoneKey, hostKey);
  const selectors = fc.constantFrom({ matchLabels: { app: 'web' } }, { matchLabels: { tier: 'x' } }, null);
  const constraints = fc.record({
    topologyKey: topologies,
    maxSkew: fc.integer({ min: 1, max: 2 }),
    whenUnsatisfiable: fc.constant('DoNotSchedule'),
    labelSelector: selectors,
    minDomains: fc.constantFrom(null, 3),
    nodeAffinityPolicy: fc.constantFrom(null, 'Ignore'),
    nodeTaintsPolicy: fc.constantFrom(null, 'Honor'),
  });
  const antiAffinities = fc.record({ topologyKey: topologies, labelSelector: selectors });
  const someNodes = fc
    .array(
      fc.record({
        type: fc.constantFrom<'spot' | 'on-demand' | 'unknown'>('spot', 'spot', 'on-demand', 'unknown'),
        zone: fc.constantFrom('1', '2', '3', null),
        tainted: fc.boolean(),
        cordoned: fc.boolean(),
        room: fc.integer({ min: 0, max: 3 }),
      }),
      { minLength: 1, maxLength: 8 },
    )
    .map((all) =>
      all.map(({ type, zone, tainted, cordoned, room }, index) =>
        node(`n${index}`, type, {
          labels: zone === null ? {} : { [zoneKey]: zone },
          taints: tainted ? [{ key: 'x', effect: 'NoSchedule' }] : [],
          cordoned: cordoned && index % 3 === 0,
          ...(room === 0 && { free: {} }),
        }),
      ),
    );
  const someMembers = fc
    .array(
      fc.record({ at: fc.nat(9), labels: fc.constantFrom({ app: 'web' }, { app: 'web', tier: 'x' }, {}) }),
      { maxLength: 10 },
    )
    .map((all) => all.map(({ at, labels }) => on(`n${at}`, labels)));

  it('get the answers that each would get alone', () => {
    fc.assert(
      fc.property(
        fc.array(constraints, { maxLength: 2 }),
        fc.array(antiAffinities, { maxLength: 1 }),
        someNodes,
        someMembers,
        fc.array(reaches, { minLength: 1, maxLength: 3 }),
        (topologySpreadConstraints, terms, nodes, members, volumes) => {
          const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: terms };
          const question = {
            template: { ...template, spec: { topologySpreadConstraints, affinity: { podAntiAffinity } } },
            to: 'spot',
            placement: settings.placement,
            nodes: nodesOf(...nodes),
            room: 'free',
          } as const;
          const fit = fitOf({ ...question, members });
          for (const reach of volumes) {
            for (const leaving of [...members, null]) {
              const staying = members.filter((member) => member !== leaving);
              expect(fit(leaving, reach)).toEqual(evidenceFor({ ...question, staying, volumes: reach }));
            }
          }
        },
      ),
      propertyRuns,
    );
  });

  it('find the same with and without a node that does not concern them', () => {
    const specs = fc.record({
      topologySpreadConstraints: fc.array(constraints, { maxLength: 2 }),
      nodeSelector: fc.constantFrom(null, { [zoneKey]: '1' }),
      tolerations: fc.constantFrom([], [{ operator: 'Exists' }]),
    });
    const types = fc.constantFrom(...capacityTypes);
    fc.assert(
      fc.property(specs, types, someNodes, someMembers, reaches, (spec, to, nodes, members, volumes) => {
        const question = { template: { ...template, spec }, to, placement: settings.placement } as const;
        const answerOf = (all: readonly NodeView[], staying: readonly Member[]): string => {
          const answer = evidenceFor({ ...question, nodes: nodesOf(...all), staying, volumes, room: 'free' });
          return answer.kind === 'fits' ? answer.node : answer.kind;
        };
        for (const one of nodes) {
          if (concerns(one, question)) continue;
          const others = nodes.filter((other) => other !== one);
          const elsewhere = members.filter((member) => member.pod.nodeName !== one.name);
          expect(answerOf(others, elsewhere)).toBe(answerOf(nodes, elsewhere));
        }
      }),
      propertyRuns,
    );
  });

  it('may be concerned by a node that takes none of them, where it counts for a spread', () => {
    const over = (change: object): Pick<FitQuestion, 'template' | 'to' | 'placement'> => {
      const labelSelector = { matchLabels: { app: 'web' } };
      const rule = { topologyKey: zoneKey, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector };
      const spec = { topologySpreadConstraints: [{ ...rule, ...change }] };
      return { template: { ...template, spec }, to: 'spot', placement: settings.placement };
    };
    const tainted = node('t', 'spot', { taints: [{ key: 'x', effect: 'NoSchedule' }] });
    const other = node('o', 'on-demand');
    expect(concerns(tainted, over({}))).toBe(true);
    expect(concerns(tainted, over({ nodeTaintsPolicy: 'Honor' }))).toBe(false);
    expect(concerns(tainted, over({ whenUnsatisfiable: 'ScheduleAnyway' }))).toBe(false);
    expect(concerns(other, over({}))).toBe(false);
    expect(concerns(other, over({ nodeAffinityPolicy: 'Ignore' }))).toBe(true);
  });

  it('have the nodes walked once for all of them', () => {
    const open = 100;
    const looksFor = (candidates: number, key: string): number => {
      let looks = 0;
      const nodes = Array.from({ length: open + candidates }, (_, index) => {
        const one = node(`n${index}`, index < open ? 'spot' : 'on-demand', {
          labels: { [zoneKey]: String(index % 3) },
        });
        return {
          ...one,
          get labels() {
            looks++;
            return one.labels;
          },
        };
      });
      // One on each node that the new pod may go to, the candidates one on each of the others.
      const members = nodes.map(({ name }) => on(name));
      const labelSelector = { matchLabels: { app: 'web' } };
      const rule = { topologyKey: key, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector };
      const fit = fitOf({
        template: {
          ...template,
          spec: {
            topologySpreadConstraints: [{ ...rule, nodeAffinityPolicy: 'Ignore' }],
            affinity: {
              podAntiAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: hostKey, labelSelector }],
              },
            },
          },
        },
        to: 'spot',
        placement: settings.placement,
        nodes: nodesOf(...nodes),
        members,
        room: 'free',
      });
      looks = 0;
      for (const leaving of members.slice(open)) expect(fit(leaving, noVolumes).kind).toBe('none');
      return looks;
    };
    for (const key of [zoneKey, hostKey]) {
      // Those of the candidate and of its node.
      expect((looksFor(101, key) - looksFor(1, key)) / 100).toBeLessThan(open / 4);
    }
  });
});
