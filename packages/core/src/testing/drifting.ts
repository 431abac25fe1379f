import { parseSchedule } from '../policy/schedule.ts';
import {
  altered,
  deployment,
  deploymentOf,
  NOON,
  podsOf,
  policy,
  revision,
  settings,
  snapshot,
} from './rebalance.ts';
import { decide } from '../distribution/moves/decide.ts';
import type { WorkloadPod } from '../cluster/workload-pod.ts';
import type { RebalanceSnapshot } from '../distribution/moves/snapshot.ts';
import type { DeploymentView } from '../cluster/workload.ts';

export const numbers = { spotPercentage: 70, minOnDemand: 1 };
/** Ten pods, one spot pod too many. */
export const pods = podsOf(8, 2, numbers);
export const drifting = (change: Partial<RebalanceSnapshot> = {}): RebalanceSnapshot =>
  snapshot({ pods, ...change });
export const withWorkload = (change: Partial<DeploymentView>): RebalanceSnapshot =>
  drifting({ workload: deploymentOf(pods, change) });
export const withPods = (
  change: (one: WorkloadPod) => Partial<WorkloadPod>,
  rest: Partial<RebalanceSnapshot> = {},
): RebalanceSnapshot => {
  const changed = pods.map((one) => altered(one, change(one)));
  return snapshot({ pods: changed, workload: deploymentOf(changed), ...rest });
};
export const nightly = (hour: number) => {
  const parsed = parseSchedule(`0 ${hour} * * *`);
  if (!parsed.ok) throw new Error(parsed.expected);
  return { schedule: parsed.value, durationMs: 3_600_000 };
};
export const reasonOf = (one: RebalanceSnapshot): string => decide(one, NOON).reason;

/** With these the same ten pods are as they should be. */
export const balancing = { spotPercentage: 80, minOnDemand: 1 };
const balanced = podsOf(8, 2, balancing);
const waitingForNode = (name: string) =>
  balanced.map((one) =>
    one.name === name
      ? altered(one, { nodeName: null, ready: false, phase: 'Pending', unschedulableSinceMs: NOON - 600_000 })
      : one,
  );

const gated = (name: string) =>
  balanced.map((one) =>
    one.name === name ? altered(one, { nodeName: null, ready: false, holdup: 'SchedulingGate' }) : one,
  );

/** What no move would mend, of a workload whose counts are right; in the order in which it is reported. */
export const beyondRepair: readonly (readonly [string, Partial<RebalanceSnapshot>])[] = [
  ['OnDemandShort', { policy: policy(80, 1), pods: waitingForNode('o1') }],
  ['NoFallback', { policy: policy(80, 1), pods: waitingForNode('s7'), drought: { kind: 'unbridgeable' } }],
  ['PodsUnscheduled', { policy: policy(80, 1), pods: gated('s7') }],
];

/** Each closes one gate; in the order in which they are reported. */
export const closing: readonly (readonly [string, Partial<RebalanceSnapshot>])[] = [
  ['Unmanaged', { managed: { managed: false, reason: 'NotLabelled' } }],
  ['NoPolicy', { policy: { kind: 'none', problems: [] } }],
  ['InvalidPolicy', { policy: { kind: 'frozen', numbers, problems: [] } }],
  ['ReadOnly', { settings: { ...settings, readOnly: true } }],
  ...beyondRepair,
  [
    'PlacementOverridden',
    {
      history: {
        from: 'spot',
        to: 'on-demand',
        endedAtMs: NOON - 3_600_000,
        failures: 3,
        override: 'a field',
      },
    },
  ],
  ['Paused', { policy: policy(70, 1, { paused: true }) }],
  ['LedgerUnreachable', { ledger: { kind: 'unreachable', code: 'LEDGER_TIMEOUT' } }],
  ['WebhookNotServing', { webhook: { kind: 'notServing', detail: 'no ready endpoint' } }],
  ['WebhookBypassed', { webhook: { kind: 'bypassed', lastTrialAtMs: NOON - 599_999 } }],
  ['WorkloadDeleted', { workload: deploymentOf(pods, { deleting: true }) }],
  ['RolloutPaused', { workload: deploymentOf(pods, { paused: true }) }],
  ['GenerationBehind', { workload: deploymentOf(pods, { observedGeneration: 2 }) }],
  ['RolloutInProgress', { workload: deploymentOf(pods, { updatedReplicas: 9 }) }],
  ['MoveInFlight', { budgets: { workload: 1, nodes: new Map(), spent: false } }],
  [
    'Cooldown',
    { history: { from: 'spot', to: 'on-demand', endedAtMs: NOON - 9_999, failures: 0, override: null } },
  ],
  ['WindowClosed', { policy: policy(70, 1, { window: nightly(2) }) }],
  ['Balanced', { policy: policy(80, 1), pods: balanced }],
  ['Settling', { workload: deploymentOf(pods, { policyChangedAtMs: NOON - 2_999 }) }],
  ['PodsMissing', { workload: deployment(11, { revisions: [revision(11)], podGoneAtMs: NOON - 30_000 }) }],
  ['LedgerDiffers', { workload: deployment(10) }],
];
