import { targetSpot } from '../distribution/target.ts';
import type {
  AdmissionTrace,
  SteeredFacts,
  SteeredReason,
  UnsteeredReason,
  UntouchedReason,
} from './admission.ts';

const untouched: Readonly<Record<UntouchedReason, string>> = {
  NotCreate: 'only the creation of pods is looked at',
  NotPod: 'it is no pod',
  Subresource: 'only the pod itself is looked at, not its subresources',
  NoNamespace: 'it has no namespace',
  AlreadyBound: 'it is bound to a node already',
  BarePod: 'no controller owns it',
  OtherOwner: 'its owner is neither a ReplicaSet nor a StatefulSet',
  NamespaceExcluded: 'its namespace is excluded by the configuration',
  NamespaceNotSelected: "its namespace is not selected by the configuration's scope",
  NotLabelled: 'neither its workload nor its namespace carries the label spotalis.io/enabled: "true"',
  NamespaceNotLabelled: 'its namespace does not carry the label spotalis.io/enabled: "true"',
  WorkloadNotLabelled: 'its workload does not carry the label spotalis.io/enabled: "true"',
  NoPolicy: 'neither spotalis.io/spot-percentage nor spotalis.io/min-on-demand is set',
  ReadOnly: 'read-only mode is on',
  NodeLabelsMissing: "no node with the configuration's on-demand label was seen yet",
};

const unsteered: Readonly<Record<UnsteeredReason, string>> = {
  OwnerUnknown: 'its owner could not be read',
  PolicyUnknown: "its workload's policy could not be read",
  DeadlineMissed: 'there was no decision within the time allowed',
  PlacementConflict: "the pod's own node affinity or nodeSelector allows neither type",
  VolumeUnknown: 'it is not known which nodes its volume can reach',
};

function counted({ counts, numbers }: SteeredFacts): string {
  if (counts === null) return 'no pods were counted';
  const before = counts.spot + counts.onDemand;
  return `${counts.spot} of ${before} pods were on spot and ${targetSpot(numbers, before + 1)} of ${before + 1} should be`;
}

const steered: Readonly<Record<SteeredReason, (facts: SteeredFacts) => string>> = {
  BelowShare: counted,
  ShareFull: counted,
  Floor: ({ counts, numbers }) =>
    `${counts === null ? 'too few' : counts.onDemand} on-demand pods were there and the floor is ${numbers.minOnDemand}`,
  Ordinal: ({ place, type }) =>
    place.kind === 'ordinal'
      ? `ordinal ${place.ordinal} is ${article(type)} place`
      : `${article(type)} place`,
  InvalidPolicy: () => 'a number of its policy is invalid, which makes on-demand the safe choice',
  PlacementConflict: () => "the pod's own node affinity or nodeSelector allows no other type",
  VolumeConflict: () => 'its volume can reach no node of the other type',
  Drought: () => 'there is no spot capacity, so it stands in for a spot pod',
  Probe: () => 'it tries whether there is spot capacity again',
  Replay: () => 'the same request was answered so before',
  LateReplay: () => 'the request is of a pod that is gone already',
  LedgerUnavailable: (facts) => `the ledger was out of reach; ${counted(facts)}`,
  CountsUnknown: () =>
    'neither the ledger nor the list of pods was within reach, which makes on-demand the safe choice',
};

const article = (type: string): string => (type === 'spot' ? 'a spot' : 'an on-demand');

/** One sentence for people. Programs go by `action` and `reason`. */
export function explainAdmission(trace: AdmissionTrace): string {
  switch (trace.action) {
    case 'untouched':
      return `Left alone: ${untouched[trace.reason]}.`;
    case 'unsteered':
      return `Not steered: ${unsteered[trace.reason]}.`;
    case 'steered': {
      const { facts, reason } = trace;
      const { spotPercentage, minOnDemand } = facts.numbers;
      const why = steered[reason](facts);
      return `Sent to ${facts.type}: ${why} (policy: ${spotPercentage} % spot, at least ${minOnDemand} on-demand).`;
    }
    default:
      return trace satisfies never;
  }
}
