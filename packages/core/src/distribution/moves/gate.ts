import type { DisruptionWindow } from '../../policy/policy.ts';
import { isOpen, nextCommonOpening } from '../../disruption/window.ts';
import { cooldownEnd } from '../../disruption/cooldown.ts';
import { restsOnDefaults } from '../../policy/defaulted.ts';
import type { OtherDefaults, RebalanceSnapshot, Refusal } from './snapshot.ts';
import { type Decided, held } from './verdict.ts';
import type { StatefulSetView, WorkloadView } from '../../cluster/workload.ts';

/** Null: open. */
type Gate = (snapshot: RebalanceSnapshot, nowMs: number) => Decided | null;

const unmanaged: Gate = ({ managed }) =>
  managed.managed ? null : held('Unmanaged', { why: managed.reason });

const policyInvalid: Gate = ({ policy }) => {
  if (policy.kind === 'none') return held('NoPolicy', {});
  if (policy.kind === 'valid') return null;
  return held('InvalidPolicy', { messages: policy.problems.map(({ message }) => message) });
};

const readOnly: Gate = ({ settings }) => (settings.readOnly ? held('ReadOnly', {}) : null);

const paused: Gate = ({ policy }) => (policy.kind === 'valid' && policy.paused ? held('Paused', {}) : null);

const ledgerUnreachable: Gate = ({ ledger }) =>
  ledger.kind === 'unreachable' ? held('LedgerUnreachable', { code: ledger.code }) : null;

/** While admissions pass the webhook by, a move in this time shows whether they still do. */
const TRIAL_PERIOD_MS = 600_000;

const webhookAway: Gate = ({ webhook }, nowMs) => {
  if (webhook.kind === 'serving') return null;
  if (webhook.kind === 'notServing') return held('WebhookNotServing', { detail: webhook.detail });
  const nextTrialAtMs = webhook.lastTrialAtMs + TRIAL_PERIOD_MS;
  return nextTrialAtMs <= nowMs ? null : held('WebhookBypassed', { nextTrialAtMs }, nextTrialAtMs);
};

const workloadDeleted: Gate = ({ workload }) => (workload.deleting ? held('WorkloadDeleted', {}) : null);

const rolloutPaused: Gate = ({ workload }) =>
  workload.kind === 'Deployment' && workload.paused ? held('RolloutPaused', {}) : null;

const generationBehind: Gate = ({ workload: { generation, observedGeneration } }) =>
  observedGeneration < generation ? held('GenerationBehind', { generation, observedGeneration }) : null;

const rolloutInProgress: Gate = ({ workload }) => {
  const { updatedReplicas: updated } = workload;
  const wanted = wantedUpdated(workload);
  const activeRevisions =
    workload.kind === 'Deployment'
      ? workload.revisions.filter(({ replicas }) => replicas > 0).length
      : Number(workload.replicas > 0);
  const complete = updated === wanted && activeRevisions === Number(workload.replicas > 0);
  return complete ? null : held('RolloutInProgress', { activeRevisions, updated, wanted });
};

/** How many pods the update revision has when the rollout has gone as far as it should. */
function wantedUpdated(workload: WorkloadView): number {
  if (workload.kind === 'Deployment' || workload.currentRevision === workload.updateRevision) {
    return workload.replicas;
  }
  // With OnDelete a pod that is evicted comes back updated, which its owner asked to decide for himself.
  return workload.strategy.type === 'OnDelete' ? workload.replicas : beyondPartition(workload);
}

/** The partition counts pods, wherever their ordinals begin. */
function beyondPartition({ strategy, replicas }: StatefulSetView): number {
  const partition = strategy.type === 'RollingUpdate' ? strategy.partition : 0;
  return Math.max(0, replicas - partition);
}

const moveInFlight: Gate = ({ budgets }) =>
  budgets.workload > 0 ? held('MoveInFlight', { inFlight: budgets.workload }) : null;

const cooldown: Gate = ({ history, settings }, nowMs) => {
  if (history === null) return null;
  const untilMs = cooldownEnd(history, settings.cooldownMs);
  return untilMs <= nowMs ? null : held('Cooldown', { untilMs, failures: history.failures }, untilMs);
};

const windowClosed: Gate = ({ policy, settings }, nowMs) => {
  const own = policy.kind === 'valid' ? policy.window : null;
  const windows = [own, settings.window].filter((window) => window !== null);
  const isClosed = (window: DisruptionWindow | null): boolean => window !== null && !isOpen(window, nowMs);
  const workloadClosed = isClosed(own);
  const clusterClosed = isClosed(settings.window);
  if (!workloadClosed && !clusterClosed) return null;
  const opensAtMs = nextCommonOpening(windows, nowMs);
  const window = workloadClosed && clusterClosed ? 'both' : workloadClosed ? 'workload' : 'cluster';
  return held('WindowClosed', { window, opensAtMs }, opensAtMs);
};

/** Such are seen within moments. */
const UNSEEN_MS = 500;

/** What was refused is asked for again after a while. */
export const refusedBefore = (refusal: Refusal | null): Decided | null =>
  refusal === null ? null : held(refusal.reason, { message: refusal.message }, refusal.untilMs);

/** The replacement would come back as the pod that went. */
function defaultsDiffer(other: OtherDefaults | null, nowMs: number): Decided | null {
  if (other === null) return null;
  const { nextTrialAtMs } = other;
  if (nextTrialAtMs !== null && nextTrialAtMs <= nowMs) return null;
  return held('DefaultsDiffer', { nextTrialAtMs }, nextTrialAtMs);
}

/** What keeps a decision from being carried out just now, whatever it is about. */
export function carryOutGate(
  { policy, refused, unseen, otherDefaults }: RebalanceSnapshot,
  { verdict }: Decided,
  nowMs: number,
): Decided | null {
  if (verdict.kind === 'correct' || verdict.kind === 'renumber') return refusedBefore(refused.annotate);
  if (verdict.kind !== 'move' && verdict.kind !== 'prove') return null;
  const differing = restsOnDefaults(policy) ? defaultsDiffer(otherDefaults, nowMs) : null;
  // The proof of room is for a move, and may start a node.
  if (verdict.kind === 'prove') return differing;
  const tooMany = unseen === null ? null : held('ReplacementsUnseen', { unseen }, nowMs + UNSEEN_MS);
  return refusedBefore(refused.evict) ?? differing ?? tooMany;
}

const firstClosed =
  (gates: readonly Gate[]): Gate =>
  (snapshot, nowMs) => {
    for (const gate of gates) {
      const closed = gate(snapshot, nowMs);
      if (closed !== null) return closed;
    }
    return null;
  };

/** Whether anything at all may be written. */
export const writeGate: Gate = firstClosed([unmanaged, policyInvalid, readOnly]);

const steadyGates: readonly Gate[] = [
  ledgerUnreachable,
  webhookAway,
  workloadDeleted,
  rolloutPaused,
  generationBehind,
  rolloutInProgress,
];

/** Whether the workload is in a state to be judged, moves aside. */
export const steadyGate: Gate = firstClosed(steadyGates);

/** All that closes before the drift is looked at, in the order in which it is reported. */
export const moveGate: Gate = firstClosed([paused, ...steadyGates, moveInFlight, cooldown, windowClosed]);
