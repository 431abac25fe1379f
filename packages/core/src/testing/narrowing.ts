import { podKeys } from '../policy/keys.ts';
import type { PdbView } from '../cluster/pdb.ts';
import type { WorkloadPod } from '../cluster/workload-pod.ts';
import type { RebalanceSnapshot } from '../distribution/moves/snapshot.ts';
import type { RebalanceReason } from '../distribution/moves/verdict.ts';
import type { DeploymentView, StatefulSetView, TemplateSpec, TemplateView } from '../cluster/workload.ts';
import {
  altered,
  annotated,
  deploymentOf,
  NOON,
  node,
  nodesOf,
  ordinalPod,
  pdb,
  podsOf,
  policy,
  snapshot,
  statefulSet,
  typeKey,
} from './rebalance.ts';

type Change = (one: RebalanceSnapshot) => RebalanceSnapshot;

const numbers = { spotPercentage: 60, minOnDemand: 2 };
const asked = policy(numbers.spotPercentage, numbers.minOnDemand);
const five = podsOf(2, 3, numbers);
/** Five pods, one on-demand pod too many, of an application that can spare any of them. */
export const sparing: RebalanceSnapshot = snapshot({
  pods: five,
  policy: asked,
  workload: deploymentOf(five, { strategy: { type: 'RollingUpdate', maxUnavailable: '100%' } }),
});
/** The same of a StatefulSet, whose slots are o o s s s. */
export const inOrder: RebalanceSnapshot = snapshot({
  pods: (['on-demand', 'on-demand', 'on-demand', 'spot', 'spot'] as const).map((type, ordinal) =>
    ordinalPod(ordinal, type),
  ),
  policy: asked,
  workload: statefulSet(5, { podManagement: 'OrderedReady' }),
});

/** Changes both kinds of workload alike. */
const withWorkload =
  (change: Partial<DeploymentView> & Partial<StatefulSetView>): Change =>
  (one) =>
    Object.assign({ ...one }, { workload: { ...one.workload, ...change } });

const withSpec =
  (spec: TemplateSpec): Change =>
  (one) => {
    const made = (its: TemplateView): TemplateView => ({
      ...its,
      spec: { ...its.spec, affinity: { ...its.spec.affinity, ...spec.affinity } },
    });
    const { workload } = one;
    if (workload.kind === 'StatefulSet') {
      return { ...one, workload: { ...workload, template: made(workload.template) } };
    }
    const revisions = workload.revisions.map((its) => ({ ...its, template: made(its.template) }));
    return { ...one, workload: { ...workload, revisions } };
  };

const withPods =
  (change: (pod: WorkloadPod, index: number) => WorkloadPod): Change =>
  (one) => ({ ...one, pods: one.pods.map(change) });

const withPdbs =
  (change: (pdbs: readonly PdbView[]) => readonly PdbView[]): Change =>
  (one) => ({ ...one, pdbs: change(one.pdbs.length === 0 ? [pdb()] : one.pdbs) });

const isOnDemand = (one: WorkloadPod): boolean => one.annotations[podKeys.capacityType] === 'on-demand';

const alone: Change = (one) => {
  const { workload } = one;
  const counts = { replicas: 1, updatedReplicas: 1 };
  const ledger = { spot: 0, onDemand: 1 };
  return {
    ...one,
    policy: policy(100, 0),
    pods: one.pods.filter(isOnDemand).slice(0, 1),
    workload:
      workload.kind === 'StatefulSet'
        ? { ...workload, ...counts }
        : {
            ...workload,
            ...counts,
            revisions: workload.revisions.map((its) => ({ ...its, replicas: 1, ledger })),
          },
  };
};

const nowhere = [
  { matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In' as const, values: ['none'] }] },
];

/**
 * Each closes one of the gates that come after the drift is known, in the order in which they are reported. To be
 * put on one another, the first on top.
 */
export const narrowing: readonly (readonly [RebalanceReason, Change])[] = [
  [
    'LedgerDiffers',
    (one) =>
      one.workload.kind === 'StatefulSet'
        ? one
        : {
            ...one,
            workload: {
              ...one.workload,
              revisions: one.workload.revisions.map((its) => ({ ...its, ledger: { spot: 9, onDemand: 9 } })),
            },
          },
  ],
  [
    'PlacementConflict',
    withSpec({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: typeKey, operator: 'In', values: ['on-demand'] }] },
            ],
          },
        },
      },
    }),
  ],
  [
    'NotProvable',
    withSpec({
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'db' } } },
          ],
        },
      },
    }),
  ],
  [
    'NoCapacity',
    (one) => {
      const full = { cpu: 0, memory: 0, pods: 0 };
      return { ...one, nodes: nodesOf(...one.nodes.values(), node('spot-1', 'spot', { free: full })) };
    },
  ],
  ['SingleReplica', alone],
  ['OthersNotReady', withPods((one, index) => (index === 0 ? altered(one, { ready: false }) : one))],
  ['NotAvailable', withWorkload({ availableReplicas: 0 })],
  [
    'FloorAtRisk',
    withPods((one) =>
      one.name === 'o1'
        ? altered(annotated(one, { [podKeys.doNotMove]: 'true' }), {
            nodeName: null,
            ready: false,
            phase: 'Pending',
          })
        : one,
    ),
  ],
  ['NoCandidate', withPods((one) => altered(one, { volumes: { kind: 'bound', affinities: [nowhere] } }))],
  ['TwoPdbs', withPdbs((pdbs) => [...pdbs, pdb({ name: 'second' })])],
  ['PdbBehind', withPdbs((pdbs) => pdbs.map((its) => ({ ...its, generation: 2 })))],
  ['PdbBlocks', withPdbs((pdbs) => pdbs.map((its) => ({ ...its, disruptionsAllowed: 0 })))],
  [
    'EvictionRefused',
    (one) => ({
      ...one,
      refused: {
        evict: { reason: 'EvictionRefused', message: 'no', untilMs: NOON + 10_000 },
        annotate: null,
      },
    }),
  ],
  [
    'DefaultsDiffer',
    (one) => ({
      ...one,
      policy: policy(numbers.spotPercentage, numbers.minOnDemand, { defaulted: ['spotPercentage'] }),
      otherDefaults: { nextTrialAtMs: NOON + 60_000 },
    }),
  ],
  ['ReplacementsUnseen', (one) => ({ ...one, unseen: 3 })],
];
