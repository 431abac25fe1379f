export { type CapacityType, capacityTypes, isCapacityType, otherType } from './capacity/type.ts';
export { typeForNext } from './distribution/next.ts';
export { deletionCost, ordinalType, position, slotType } from './policy/slot.ts';
export {
  clamp,
  drift,
  type PodCounts,
  type PolicyNumbers,
  spotAfterGrowth,
  spotAmongSurvivors,
  targetOnDemand,
  targetSpot,
  type TypeCounts,
} from './policy/target.ts';
export { policyCases, type ExpectedProblem, type PolicyCase } from './policy/cases.ts';
export {
  type Annotations,
  enabledLabel,
  foreignKeys,
  keyPrefix,
  type Labels,
  podKeys,
  placeholderKeys,
  resizeKeys,
  type PolicyField,
  policyKeys,
} from './policy/keys.ts';
export {
  type Managed,
  managed,
  type ManagedSubject,
  outOfScope,
  type UnmanagedReason,
  unmanagedReasons,
} from './policy/managed.ts';
export { hasSameDefaults, restsOnDefaults } from './policy/defaulted.ts';
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
export type { Scope } from './policy/settings.ts';
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
export { classifierOf, classifyNode } from './capacity/classify.ts';
export {
  type Capacity,
  type CapacityReading,
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
export type {
  NodeRequirement,
  NodeSelectorTerm,
  PodSpecView,
  PodView,
  Toleration,
} from './cluster/pod-spec.ts';
export { explainDrought } from './distribution/explain/drought.ts';
export { explainRebalance, readOverride } from './distribution/explain/rebalance.ts';
export { readClusterWindow } from './disruption/cluster-window.ts';
export { sharedReasons, type SharedTraits } from './disruption/reason.ts';
export { arbitrate, type Arbitration } from './disruption/arbitrate.ts';
export {
  type EvictIntent,
  type Intent,
  type ModuleName,
  type Rank,
  ranks,
  type RemovalIntent,
  type ResizeIntent,
} from './disruption/intent.ts';
export { backOff, isBackingOff, type ResizeBackoff } from './resize/backoff.ts';
export type { ResizeSurroundings } from './resize/guard.ts';
export { type ResizeHold, resizeReasons } from './resize/hold.ts';
export { owesNothing, readOriginals, rememberedValue } from './resize/ownership.ts';
export { type Paced, ResizePace } from './resize/pace.ts';
export { type RawResizablePod, readResizablePod, type ResizablePod } from './resize/resizable-pod.ts';
export {
  agreedSizes,
  pendingSizes,
  progressOf,
  type ResizeProgress,
  verdictOf,
} from './resize/progress.ts';
export { changesOf, roomOf } from './resize/change.ts';
export { nextStep } from './resize/step.ts';
export type { Size, Sizes } from './cluster/size.ts';
export {
  type Budgets,
  type Deferral,
  type RegisterView,
  type Spent,
  spentFor,
  type TakingOver,
  type UnderWay,
} from './disruption/register.ts';
export { type Asker, deferred, evictionFor, removalFor } from './distribution/moves/request.ts';
export { closing, isOpen, nextCommonOpening, nextOpening } from './disruption/window.ts';
export { decide } from './distribution/moves/decide.ts';
export { type Availability, availabilityOf } from './cluster/availability.ts';
export { type Candidates, candidatesOf } from './distribution/moves/candidate.ts';
export {
  afterMove,
  cooldownEnd,
  type EndedMove,
  type MoveHistory,
  type MoveOutcome,
} from './disruption/cooldown.ts';
export { correctionsOf } from './distribution/moves/correct.ts';
export {
  concerns,
  type Evidence,
  evidenceFor,
  type FitQuestion,
  type Misfit,
  type Misfits,
} from './cluster/fit.ts';
export { activeRevision, membersOf } from './cluster/member.ts';
export { doomOf, type Nodes, type NodeView, type Taint, withStates } from './cluster/node.ts';
export {
  askPdbs,
  desiredHealthy,
  disruptionsAllowed,
  type PdbAnswer,
} from './disruption/pdb.ts';
export {
  type Doom,
  type Member,
  noVolumes,
  type PodVolumes,
  type WorkloadPod,
} from './cluster/workload-pod.ts';
export { type Protection, type ProtectionContext, protectionOf } from './distribution/moves/protection.ts';
export { type Ranked, renumberingsOf } from './distribution/moves/renumber.ts';
export {
  addResources,
  podRequests,
  type Quantities,
  readAllocatable,
  type RequestingSpec,
  type Resources,
  subtractResources,
} from './cluster/resources.ts';
export type {
  BudgetUse,
  Refusal,
  DroughtState,
  LedgerState,
  PoolState,
  RebalanceSettings,
  OtherDefaults,
  RebalanceSnapshot,
  WebhookState,
} from './distribution/moves/snapshot.ts';
export { type ReasonTraits, reasonTraits, rebalanceReasons } from './distribution/moves/reason.ts';
export { standingOf, wantsMoves, wantsMovesTo } from './distribution/moves/standing.ts';
export {
  type Correction,
  type Decided,
  type Exclusion,
  type ExclusionReason,
  type FactsByReason,
  type Move,
  type MoveFacts,
  type OrdinalStanding,
  type RebalanceReason,
  type RebalanceTrace,
  type Renumbering,
  type Standing,
  type StuckReference,
  type Verdict,
} from './distribution/moves/verdict.ts';
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
} from './cluster/workload.ts';
export { identityOf, type Identified, type Identity, ownAnnotations, ownLabels } from './cluster/metadata.ts';
export { controllerOf } from './cluster/owner.ts';
export type { PodReference } from './cluster/reference.ts';
export { type ObservedNamespace, pruneNamespace } from './cluster/namespace.ts';
export { type ObservedNode, pruneNode, type RawNode } from './cluster/observed-node.ts';
export { type ObservedPdb, type PdbView, prunePdb, type RawPdb } from './cluster/pdb.ts';
export {
  type Admission,
  admissionOf,
  type ObservedPod,
  prunePod,
  type RawPod,
  tokenOf,
} from './cluster/observed-pod.ts';
export { type ObservedReplicaSet, pruneReplicaSet, type RawReplicaSet } from './cluster/replicaset.ts';
export { countPods } from './cluster/census.ts';
export { type ClusterView, managedIn, policyIn } from './cluster/cluster-view.ts';
export { nodeViewOf, podViewOf, workloadViewOf } from './cluster/view.ts';
export { snapshotOf } from './distribution/moves/observed.ts';
export {
  type ObservedClaim,
  type ObservedVolume,
  pruneClaim,
  pruneVolume,
  type RawClaim,
  type RawVolume,
  reachOf,
} from './cluster/volume.ts';
export {
  type ObservedWorkload,
  pruneWorkload,
  type RawWorkload,
  type WorkloadKind,
} from './cluster/observed-workload.ts';
export { accountOf, explainPod, type PodAccount } from './distribution/explain/account.ts';
export { isOn, type ModuleParts } from './module/declaration.ts';
export { type PolicyRule, type RightReach, rightReaches, ruleOf } from './module/rights.ts';
export { modules } from './modules.ts';
export { type Condition, type Finding, mergeConditions } from './resource/condition.ts';
export { crdOf } from './resource/crd.ts';
export { faultsOf } from './resource/faults.ts';
export { type Reading, readSpec, readStatus } from './resource/parse.ts';
export { readiness } from './resource/readiness.ts';
export { resourceReference } from './resource/reference.ts';
export { evidenceOf, type PlaceholderEvidence } from './proof/evidence.ts';
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
} from './proof/life.ts';
export {
  placeholderManifest,
  placeholderName,
  type PlaceholderSubject,
} from './proof/manifest.ts';
export { keepsPlaceholder } from './distribution/moves/placeholder.ts';
export { type PlaceholderShape, shapeOf, shapeText } from './proof/shape.ts';
export { type Plan, planFor, type PlannedMove, type PlannedWait } from './distribution/preview/plan.ts';
export type { Backoff, Breaker } from './distribution/droughts/breaker.ts';
export {
  type Bulletin,
  bulletinPlace,
  type BulletinReading,
  type DroughtReport,
  nextProbeOf,
  readBulletin,
  writeBulletin,
} from './distribution/droughts/bulletin.ts';
export { readBreaker, writeMemo } from './distribution/droughts/memo.ts';
export { poolOf } from './distribution/droughts/pool.ts';
export { typesReached } from './distribution/droughts/reach.ts';
export {
  emptyNode,
  hostnameOnly,
  largerShape,
  type NamesNode,
  namingLabels,
  shapeKey,
} from './distribution/droughts/shape.ts';
export type { RedisValues } from './services/redis.ts';
export type { WebhookValues } from './services/webhook.ts';
export {
  type Configuration,
  policyDefaults,
  type ProductSettings,
  rebalanceSettings,
  settings,
} from './settings.ts';
