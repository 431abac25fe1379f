export { type CapacityType, capacityTypes, isCapacityType, otherType } from './capacity/type.ts';
export { typeForNext } from './distribution/next.ts';
export { deletionCost, ordinalType, position, slotType } from './distribution/slot.ts';
export {
  clamp,
  drift,
  type PolicyNumbers,
  spotAfterGrowth,
  spotAmongSurvivors,
  targetOnDemand,
  targetSpot,
  type TypeCounts,
} from './distribution/target.ts';
export { policyCases, type ExpectedProblem, type PolicyCase } from './policy/cases.ts';
export { parseGoDuration } from './policy/duration.ts';
export {
  type Annotations,
  enabledLabel,
  foreignKeys,
  keyPrefix,
  type Labels,
  podKeys,
  placeholderKeys,
  type PolicyField,
  policyKeys,
} from './policy/keys.ts';
export {
  type Managed,
  managed,
  type ManagedSubject,
  type Scope,
  type UnmanagedReason,
  unmanagedReasons,
} from './policy/managed.ts';
export { formatPolicyMark, parsePolicyMark } from './policy/mark.ts';
export {
  type DisruptionWindow,
  namespaceProblems,
  type PolicyDefaults,
  type PolicyReading,
  type PolicySources,
  readPolicy,
  type ValidPolicy,
} from './policy/policy.ts';
export {
  type PolicyProblem,
  type PolicyProblemCode,
  policyProblemCodes,
  type PolicySource,
} from './policy/problem.ts';
export { parseSchedule, type Schedule } from './policy/schedule.ts';
export { type LabelRequirement, type LabelSelector, selects } from './policy/selector.ts';
export type { Parsed } from './policy/value.ts';
export {
  type AdmissionRequestView,
  gate,
  type GateReason,
  gateReasons,
  type GateVerdict,
  type OwnerReferenceView,
  type PodOwner,
} from './admission/gate.ts';
export { admitPod, type PodAdmission, type PodPatch } from './capacity/admit.ts';
export { type AllowedTypes, allowedTypes } from './capacity/allowed.ts';
export { classifyNode } from './capacity/classify.ts';
export {
  type Capacity,
  type CapacityReading,
  type CapacityTexts,
  readCapacity,
} from './capacity/configured.ts';
export type { NodeLabel } from './capacity/label.ts';
export {
  type NodeLabelProblem,
  type NodeLabels,
  type NodeLabelsReading,
  type NodeLabelTexts,
  readNodeLabels,
} from './capacity/labels.ts';
export { hasForeignCost, type PodMark, readPodMark } from './capacity/mark.ts';
export { type NodePoolView, offersOnDemand, onDemandSelectors } from './capacity/offer.ts';
export type { JsonPatchOperation } from './capacity/patch.ts';
export {
  type Placement,
  type PlacementOptions,
  preparePlacement,
  type TypePlacement,
} from './capacity/placement.ts';
export type { NodeRequirement, NodeSelectorTerm, PodSpecView, PodView, Toleration } from './capacity/pod.ts';
export { explainDrought } from './explain/drought.ts';
export { explainRebalance } from './explain/rebalance.ts';
export { readClusterWindow, scheduleIsCron } from './window/configured.ts';
export { closing, isOpen, nextCommonOpening, nextOpening } from './window/window.ts';
export { decide } from './rebalance/decide.ts';
export { type Availability, availabilityOf } from './rebalance/availability.ts';
export { type Candidates, candidatesOf } from './rebalance/candidate.ts';
export { afterMove, cooldownEnd, type EndedMove, type MoveOutcome } from './rebalance/cooldown.ts';
export { correctionsOf } from './rebalance/correct.ts';
export { type Evidence, evidenceFor, type FitQuestion } from './rebalance/fit.ts';
export { activeRevision, membersOf } from './rebalance/member.ts';
export { doomOf, type Nodes, type NodeView, type Taint } from './rebalance/node.ts';
export {
  askPdbs,
  desiredHealthy,
  disruptionsAllowed,
  type PdbAnswer,
  type PdbView,
} from './rebalance/pdb.ts';
export { type Doom, type Member, noVolumes, type PodVolumes, type WorkloadPod } from './rebalance/pod.ts';
export { type Protection, type ProtectionContext, protectionOf } from './rebalance/protection.ts';
export { isOrderExact, renumberingsOf } from './rebalance/renumber.ts';
export {
  addResources,
  podRequests,
  type Quantities,
  readAllocatable,
  type RequestingSpec,
  type Resources,
  subtractResources,
} from './rebalance/resources.ts';
export type {
  BudgetUse,
  DroughtState,
  LedgerState,
  MoveHistory,
  PoolState,
  RebalanceSettings,
  RebalanceSnapshot,
  WebhookState,
} from './rebalance/snapshot.ts';
export { standingOf } from './rebalance/standing.ts';
export {
  type Correction,
  type Decided,
  type Exclusion,
  type ExclusionReason,
  type FactsByReason,
  type Misfit,
  type Misfits,
  type Move,
  type MoveFacts,
  type PodReference,
  type RebalanceReason,
  rebalanceReasons,
  type RebalanceTrace,
  type Renumbering,
  type Standing,
  type StuckReference,
  type Verdict,
} from './rebalance/verdict.ts';
export type {
  DeploymentView,
  IntOrPercent,
  PodAffinityTerm,
  RevisionView,
  SpreadConstraint,
  StatefulSetView,
  TemplateSpec,
  TemplateView,
  WorkloadView,
} from './rebalance/workload.ts';
export { identityOf, type Identified, type Identity, ownAnnotations, ownLabels } from './objects/metadata.ts';
export { controllerOf } from './objects/owner.ts';
export { type ObservedNamespace, pruneNamespace } from './objects/namespace.ts';
export { type ObservedNode, pruneNode, type RawNode } from './objects/node.ts';
export { type ObservedPdb, prunePdb, type RawPdb } from './objects/pdb.ts';
export {
  type Admission,
  admissionOf,
  type ObservedPod,
  prunePod,
  type RawPod,
  tokenOf,
} from './objects/pod.ts';
export { type ObservedReplicaSet, pruneReplicaSet, type RawReplicaSet } from './objects/replicaset.ts';
export { nodeViewOf, podViewOf, workloadViewOf } from './objects/view.ts';
export {
  type ObservedClaim,
  type ObservedVolume,
  pruneClaim,
  pruneVolume,
  type RawClaim,
  type RawVolume,
  reachOf,
} from './objects/volume.ts';
export {
  type ObservedWorkload,
  pruneWorkload,
  type RawWorkload,
  type WorkloadKind,
} from './objects/workload.ts';
export { accountOf, explainPod, type PodAccount } from './explain/pod.ts';
export { type ReasonMeaning, reasonMeanings } from './explain/reason.ts';
export { nearest } from './policy/nearest.ts';
export { type CatalogueEntry, customResources } from './resource/catalogue.ts';
export { crdOf } from './resource/crd.ts';
export { faultsOf } from './resource/faults.ts';
export { resourceReference } from './resource/reference.ts';
export { evidenceOf, type PlaceholderEvidence } from './placeholder/evidence.ts';
export {
  type LifeDecision,
  placeholderKey,
  type PlaceholderView,
  type PlaceholderWish,
  type Removal,
  type RemovalReason,
  removalReasons,
  restAfter,
  tendPlaceholders,
} from './placeholder/life.ts';
export {
  placeholderManifest,
  placeholderName,
  type PlaceholderSubject,
} from './placeholder/manifest.ts';
export { keepsPlaceholder } from './placeholder/keep.ts';
export { type PlaceholderShape, shapeOf, shapeText } from './placeholder/shape.ts';
export { type Plan, planFor, type PlannedMove, type PlannedWait } from './preview/plan.ts';
export type { Backoff, Breaker } from './drought/breaker.ts';
export {
  type Bulletin,
  bulletinPlace,
  type BulletinReading,
  type DroughtReport,
  nextProbeOf,
  readBulletin,
  writeBulletin,
} from './drought/bulletin.ts';
export { readBreaker, writeMemo } from './drought/memo.ts';
export { poolOf } from './drought/pool.ts';
export { typesReached } from './drought/reach.ts';
export { emptyNode, shapeKey } from './drought/shape.ts';
