import { type CapacityType, isCapacityType } from '../../capacity/type.ts';
import type { PlaceholderEvidence } from '../../proof/evidence.ts';
import type { UnmanagedReason } from '../../policy/managed.ts';
import type { Misfit, Misfits } from '../../cluster/fit.ts';
import type { Doom } from '../../cluster/workload-pod.ts';
import type {
  Exclusion,
  ExclusionReason,
  FactsByReason,
  MoveFacts,
  RebalanceTrace,
  Standing,
} from '../moves/verdict.ts';
import { podCount, waitingBeside, waitingFor } from './waiting.ts';

const unmanaged: Readonly<Record<UnmanagedReason, string>> = {
  NamespaceExcluded: 'its namespace is excluded by the configuration',
  NamespaceNotListed: "its namespace is not one of the configuration's scope.namespaces",
  NamespaceNotSelected: "its namespace is not selected by the configuration's scope",
  NotLabelled: 'neither it nor its namespace carries the label spotalis.io/enabled: "true"',
  NamespaceNotLabelled: 'its namespace does not carry the label spotalis.io/enabled: "true"',
  WorkloadNotLabelled: 'it does not carry the label spotalis.io/enabled: "true"',
};

export const exclusions: Readonly<Record<ExclusionReason, string>> = {
  DoNotMove: 'carries spotalis.io/do-not-move: "true"',
  DoNotDisrupt: 'carries karpenter.sh/do-not-disrupt',
  NotSafeToEvict: 'carries cluster-autoscaler.kubernetes.io/safe-to-evict: "false"',
  TooYoung: 'is younger than rebalance.minPodAge',
  SystemCritical: 'has a system-critical priority',
  MirrorPod: 'is the mirror of a static pod',
  UnknownNode: 'is on a node without a recognised capacity label',
  SlotKeepsType: 'would come back on the type that it has, by its ordinal',
  VolumeUnknown: 'has a volume that could not be read',
  VolumeUnreachable: 'has a volume that no node with room can reach',
  NoFit: 'would find no node with room in its place',
};

const misfits: Readonly<Record<Misfit, string>> = {
  Selector: 'not matching its nodeSelector or node affinity',
  Taint: 'with a taint it does not tolerate',
  Room: 'without room for its requests',
  Volume: 'out of reach of its volumes',
  Spread: 'ruled out by its topology spread',
  AntiAffinity: 'ruled out by its anti-affinity',
};

const misfitOrder: readonly Misfit[] = ['Selector', 'Taint', 'Volume', 'Room', 'AntiAffinity', 'Spread'];

export const dooms: Readonly<Record<Doom, string>> = {
  NodeCordoned: 'whose node is cordoned',
  NodeInterrupted: 'whose node is being taken away',
  NodeNotReady: 'whose node is not ready',
};

const at = (timeMs: number): string => new Date(timeMs).toISOString().replace('.000Z', 'Z');

/** A workload may have thousands of pods, and an Event's note has room for a few. */
const MOST_NAMED = 10;

function some(names: readonly string[], separator: string): string {
  const more = names.length - MOST_NAMED;
  const named = names.slice(0, MOST_NAMED).join(separator);
  return more > 0 ? `${named} and ${more} more` : named;
}

const list = (names: readonly string[]): string => some(names, ', ');

function excluded(all: readonly Exclusion[]): string {
  if (all.length === 0) return 'there is none';
  return some(
    all.map(({ pod, reason }) => `${pod} ${exclusions[reason]}`),
    '; ',
  );
}

function misfitting({ readyNodes, misfits: found }: Misfits, to: CapacityType): string {
  if (readyNodes === 0) return `there is no ready ${to} node`;
  const why = misfitOrder
    .filter((misfit) => (found[misfit] ?? 0) > 0)
    .map((misfit) => `${found[misfit]} ${misfits[misfit]}`);
  return `none of ${readyNodes} ready ${to} nodes takes a new pod: ${list(why)}`;
}

function proof(placeholder: PlaceholderEvidence): string {
  switch (placeholder.kind) {
    case 'off':
    case 'none':
      return '';
    case 'queued':
      return '; a placeholder is to show whether one can be had, when there are fewer of them';
    case 'waiting':
      return `; a placeholder has waited for one since ${at(placeholder.sinceMs)}`;
    case 'running':
      return `; ${placeholder.node}, where its placeholder is, does not take it either`;
    case 'refused':
      return `; the last placeholder got none, and the next may be made at ${at(placeholder.untilMs)}`;
    default:
      return placeholder satisfies never;
  }
}

function window({ window: which, opensAtMs }: FactsByReason['WindowClosed']): string {
  const closed = {
    workload: "the workload's window is closed",
    cluster: "the cluster's window is closed",
    both: 'its own window and that of the cluster are closed',
  }[which];
  if (opensAtMs === null) return `${closed}, and no time within a year is inside of both`;
  return `${closed} until ${at(opensAtMs)}`;
}

function move({ pod, from, to, node, evidence, doom, ready }: MoveFacts, why: string): string {
  const which = doom === null ? (ready ? '' : ', which is not ready,') : `, ${dooms[doom]},`;
  const where = node === null ? '' : ` on ${node}`;
  return `Moving ${pod}${where}${which} from ${from} to ${to}, where ${evidence} has room: ${why}.`;
}

function share(standing: Standing | null): string {
  if (standing === null) return 'nothing is known of its pods';
  const { counts, untyped, target } = standing;
  const pods = counts.spot + counts.onDemand + untyped;
  return `${counts.spot} of ${pods} pods are on spot and ${target} should be`;
}

const signs: Readonly<Record<FactsByReason['ReturnTried']['by'], string>> = {
  room: 'a node has room',
  placeholder: 'a placeholder got a node',
  admission: 'the next pod admitted will show whether there is capacity',
};

const endings: Readonly<Record<FactsByReason['FallbackEnded']['how'], string>> = {
  closed: 'over, and no substitute is left',
  left: 'of no matter here any more: no spot pod is missing. Others of the same placement still wait for it',
  waived: 'bridged no longer: spotalis.io/spot-fallback-after is never, so pods wait for it',
};

const modules: Readonly<Record<string, string>> = {
  distribution: 'a move to another capacity type',
  rightsizing: 'a restart with other resources',
  recycling: 'a pod that leaves its node',
  allocation: 'a restart with another CPU limit',
};

const awaited: Readonly<Record<FactsByReason['AwaitingSpot']['until'], string>> = {
  substitutes: 'replaced on on-demand when that takes too long',
  spot: 'spotalis.io/spot-fallback-after is never',
  fault: 'with memory:// nothing replaces them',
};

const overrideText = (failures: number, to: CapacityType, override: string): string =>
  `No more moves: ${failures} replacements in a row were admitted to ${to} and changed afterwards: ${override}. Another admission webhook or policy does that: exclude the workload from it, then restart its rollout.`;

/** What a note on it says: who cannot ask the leader goes by its Events. */
export function readOverride(note: string): FactsByReason['PlacementOverridden'] | null {
  const [, failures, to, override] =
    /: (\d+) replacements in a row were admitted to (\S+) and changed afterwards: (.+)\. Another /.exec(
      note,
    ) ?? [];
  return isCapacityType(to) && override !== undefined ? { failures: Number(failures), to, override } : null;
}

/** What people read of a decision. Programs go by `verdict` and `reason`. */
export function explainRebalance(trace: RebalanceTrace): string {
  const others = waitingBeside(trace.reason, trace.waiting);
  return others === ''
    ? sentenceOn(trace)
    : `${sentenceOn(trace)} Without a node for more than a minute: ${others}.`;
}

function sentenceOn(trace: RebalanceTrace): string {
  const { standing } = trace;
  switch (trace.reason) {
    case 'Unmanaged':
      return `Not managed: ${unmanaged[trace.facts.why]}.`;
    case 'NoPolicy':
      return 'No policy: neither spotalis.io/spot-percentage nor spotalis.io/min-on-demand is set.';
    case 'InvalidPolicy':
      return `No pod is moved while the policy is invalid: ${trace.facts.messages.join('; ')}.`;
    case 'ReadOnly':
      return `Nothing is written in read-only mode: ${share(standing)}.`;
    case 'NodeDiffers':
      return `Correcting the capacity type of ${list(trace.facts.pods)}, which runs on a node of the other type.`;
    case 'FallbackStarted': {
      const { waiting, sinceMs, told, nextProbeAtMs } = trace.facts;
      const how = told ? 'as others found out before' : `the first since ${at(sinceMs)}`;
      return `No spot capacity: ${waiting} pods wait for it, ${how}. They are replaced on on-demand, and so is every further one; spot is tried again at ${at(nextProbeAtMs)}.`;
    }
    case 'FallbackFound':
      return `No spot capacity, as ${trace.facts.substitutes} substitutes on on-demand show. Spot is tried again at ${at(trace.facts.nextProbeAtMs)}.`;
    case 'FallbackGoesOn':
      return `Still no spot capacity: it was tried in vain and is tried again at ${at(trace.facts.nextProbeAtMs)}.`;
    case 'StuckRemoved':
      return `Replacing ${trace.facts.removed} of ${trace.facts.waiting} pods that wait for spot capacity, which there is none of.`;
    case 'ReturnTried': {
      const { by, substitutes } = trace.facts;
      return `Going back to spot: ${signs[by]}. ${substitutes} substitutes are on on-demand, and are moved back one by one.`;
    }
    case 'ReturnGoesOn':
      return `Going on back to spot: ${trace.facts.substitutes} substitutes are left on on-demand.`;
    case 'FallbackEnded':
      return `The lack of spot capacity since ${at(trace.facts.sinceMs)} is ${endings[trace.facts.how]}.`;
    case 'CostOrder':
      return `Renumbering ${trace.facts.pods} pods, so that a scale-down keeps the share.`;
    case 'Paused':
      return `Held by spotalis.io/paused: ${share(standing)}.`;
    case 'LedgerUnreachable':
      return `Held because the ledger is out of reach (${trace.facts.code}): a replacement might get any type.`;
    case 'WebhookNotServing':
      return `Held because the webhook does not serve (${trace.facts.detail}): a replacement would not be steered.`;
    case 'WebhookBypassed':
      return `Held because recent replacements were not seen by the webhook. The next trial is at ${at(trace.facts.nextTrialAtMs)}.`;
    case 'WorkloadDeleted':
      return 'Held because the workload is being deleted.';
    case 'RolloutPaused':
      return 'Held because its rollout is paused (spec.paused).';
    case 'GenerationBehind':
      return `Held until its controller has seen generation ${trace.facts.generation}; it has seen ${trace.facts.observedGeneration}.`;
    case 'RolloutInProgress': {
      const { activeRevisions, updated, wanted } = trace.facts;
      return `Held while a rollout is in progress: ${updated} of ${wanted} pods are updated, ${activeRevisions} revisions want pods.`;
    }
    case 'MoveInFlight':
      return 'Held until the replacement of the last move is ready.';
    case 'Cooldown': {
      const { untilMs, failures } = trace.facts;
      const failed = failures === 0 ? '' : ` after ${failures} failed in a row`;
      return `Held until ${at(untilMs)} by the cooldown of the last move${failed}.`;
    }
    case 'WindowClosed':
      return `Held because ${window(trace.facts)}.`;
    case 'OnDemandShort': {
      const { waiting, scheduled, floor } = trace.facts;
      return `On-demand capacity is short: ${waiting} on-demand pods have no node, ${scheduled} have one and the floor is ${floor}. They are not sent to spot instead: add on-demand nodes.`;
    }
    case 'NoFallback': {
      const { waiting } = trace.facts;
      return `Spot capacity is short: ${waiting} spot pods have no node, and stay until they get one. With memory:// there are no substitutes: give webhook and controller a Redis, or add spot nodes.`;
    }
    case 'AwaitingSpot': {
      const { waiting, until } = trace.facts;
      return `Waiting for spot capacity: ${podCount(waiting)} (${awaited[until]}): ${share(standing)}.`;
    }
    case 'PodsUnscheduled':
      return `Pods have no node, and on-demand substitutes would not help: ${waitingFor(trace.facts.waits)}.`;
    case 'PlacementOverridden': {
      const { failures, to, override } = trace.facts;
      return overrideText(failures, to, override);
    }
    case 'InDrought': {
      const { nextProbeAtMs } = trace.facts;
      const next = nextProbeAtMs === null ? '' : `, which is tried again at ${at(nextProbeAtMs)}`;
      return `Held for lack of spot capacity${next}: ${share(standing)}.`;
    }
    case 'ReturnUnderWay':
      return 'Held until the pod that was sent to spot last is seen to run there.';
    case 'Balanced':
      return `As it should be: ${share(standing)}.`;
    case 'Settling':
      return `Held until ${at(trace.facts.untilMs)}, to let a change of its ${trace.facts.change} settle.`;
    case 'PodsMissing':
      return `Held while there are ${trace.facts.pods} pods and ${trace.facts.wanted} are wanted.`;
    case 'LedgerDiffers': {
      const { ledger, sharing } = trace.facts;
      const untyped = ledger?.untyped ?? 0;
      const unknown = untyped === 0 ? '' : ` and ${untyped} of an unknown type`;
      const holds =
        ledger === null
          ? 'was not read'
          : `holds ${ledger.spot} spot and ${ledger.onDemand} on-demand${unknown}`;
      const why =
        sharing.length === 0
          ? ''
          : ` ${list(sharing)} share a reservation, which counts once: delete all but one of each.`;
      return `Held until the ledger agrees with the pods: it ${holds}, ${share(standing)}.${why}`;
    }
    case 'PlacementConflict':
      return trace.facts.to === null
        ? "Left as they are: the pods' own node affinity or nodeSelector rules out both spot and on-demand."
        : `Not repaired: the pods' own node affinity or nodeSelector rules out ${trace.facts.to}.`;
    case 'NotProvable':
      return `Held because room on ${trace.facts.to} cannot be proven: the pods have ${trace.facts.constraint}.`;
    case 'NoCapacity':
      return `Held because ${misfitting(trace.facts, trace.facts.to)}${proof(trace.facts.placeholder)}.`;
    case 'SingleReplica':
      return 'Held because it has a single replica and rebalance.allowSingleReplica is false.';
    case 'OthersNotReady':
      return `Held because an OrderedReady StatefulSet moves a pod only while all others are ready: ${list(trace.facts.pods)} not ready.`;
    case 'NotAvailable': {
      const { available, needed, missing } = trace.facts;
      const why =
        missing === 0
          ? ''
          : ` ${missing} more ${missing === 1 ? 'pod is wanted and does' : 'pods are wanted and do'} not exist: see the Events of its ReplicaSet or StatefulSet, such as a quota.`;
      return `Held because ${available} pods are available and ${needed} must be left after a move.${why}`;
    }
    case 'FloorAtRisk': {
      const { scheduled, floor } = trace.facts;
      return `Held because only ${scheduled} on-demand pods have a node and the floor is ${floor}.`;
    }
    case 'NoCandidate':
      return `Held because no pod may be moved: ${excluded(trace.facts.exclusions)}.`;
    case 'TwoPdbs':
      return `Held because more than one PodDisruptionBudget selects ${trace.facts.pod} (${list(trace.facts.pdbs)}), and such pods cannot be evicted. Leave one of them.`;
    case 'PdbBehind':
      return `Held until the status of PodDisruptionBudget ${trace.facts.pdb} follows its spec.`;
    case 'PdbBlocks': {
      const { pdb, healthy, needed, never } = trace.facts;
      const ever = never ? ' It never allows an eviction: relax it.' : '';
      return `Held by PodDisruptionBudget ${pdb}: ${healthy} pods are healthy and ${needed} must stay so.${ever}`;
    }
    case 'EvictionRefused':
    case 'EvictionForbidden':
      return `Held because the API server refused the last eviction: ${trace.facts.message}`;
    case 'EvictionFailed':
      return `Held because the last eviction was not answered: ${trace.facts.message}`;
    case 'AnnotationRefused':
      return trace.facts.message;
    case 'DefaultsDiffer': {
      const { nextTrialAtMs } = trace.facts;
      const trial = nextTrialAtMs === null ? '' : ` The next trial is at ${at(nextTrialAtMs)}.`;
      return `Held until a replacement shows that the webhook has the same defaults as the leader: a changed configuration reaches each process at its own time.${trial}`;
    }
    case 'ReplacementsUnseen': {
      const { unseen } = trace.facts;
      const pods = unseen === 1 ? 'the replacement of 1 move is' : `the replacements of ${unseen} moves are`;
      return `Held until ${pods} seen to come through the webhook.`;
    }
    case 'WorkloadBusy': {
      const { by, sinceMs } = trace.facts;
      const whose = by === null ? 'one that an earlier leader began' : (modules[by] ?? by);
      return `Held because another disruption of this workload is under way since ${at(sinceMs)}: ${whose}.`;
    }
    case 'TakingOver':
      return 'Held until this leader has taken over from the one before it.';
    case 'BudgetSpent': {
      const { budget, used, limit } = trace.facts;
      if (budget === 'removals') {
        return `Held because ${used} pods without a node were removed within a minute and the limit is ${limit}.`;
      }
      const unit = budget === 'minute' ? 'begun within a minute' : `in flight in this ${budget}`;
      return `Held because ${used} moves are ${unit} and the limit is ${limit}.`;
    }
    case 'FloorShort':
      return move(trace.facts, `the floor is ${standing?.numbers.minOnDemand ?? 0} and ${share(standing)}`);
    case 'FloorOrdinal': {
      const floor = standing?.numbers.minOnDemand ?? 0;
      return move(
        trace.facts,
        `the floor is ${floor} and a scale-down removes the highest ordinals first, so the first ${floor} belong on on-demand`,
      );
    }
    case 'SpotSurplus':
    case 'OnDemandSurplus':
      return move(trace.facts, share(standing));
    default:
      return trace satisfies never;
  }
}
