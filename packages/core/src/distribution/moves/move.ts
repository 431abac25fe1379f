import { allowedTypes } from '../../capacity/allowed.ts';
import { readPodMark } from '../../capacity/mark.ts';
import { type CapacityType, otherType } from '../../capacity/type.ts';
import type { PodCounts } from '../../policy/target.ts';
import { availabilityOf } from '../../cluster/availability.ts';
import { type Candidates, candidatesOf } from './candidate.ts';
import { type Fit, fitOf } from '../../cluster/fit.ts';
import { withPlaceholder } from '../../proof/evidence.ts';
import { shapeOf } from '../../proof/shape.ts';
import { activeRevision } from '../../cluster/member.ts';
import type { Nodes } from '../../cluster/node.ts';
import { askPdbs } from '../../disruption/pdb.ts';
import { type Member, noVolumes } from '../../cluster/workload-pod.ts';
import { referenceTo } from '../../cluster/reference.ts';
import type { RebalanceSnapshot } from './snapshot.ts';
import { hasNeighbourRules } from '../../cluster/spread.ts';
import { type Decided, type DecidedFor, type Exclusion, held, type Standing } from './verdict.ts';
import type { TemplateView } from '../../cluster/workload.ts';

/** What there is too much of, and which pods of it would mend that. */
export interface Surplus {
  readonly reason: 'FloorOrdinal' | 'SpotSurplus' | 'OnDemandSurplus';
  readonly from: CapacityType;
  readonly pods: readonly Member[];
}

/** Everything about one workload that is known to drift and free to be repaired. */
interface Drifting {
  readonly snapshot: RebalanceSnapshot;
  readonly members: readonly Member[];
  readonly standing: Standing;
  readonly template: TemplateView;
  readonly surplus: Surplus;
  readonly from: CapacityType;
  readonly to: CapacityType;
  readonly nowMs: number;
  /** With what the workload's own placeholder takes given back to it. */
  readonly nodes: Nodes;
  readonly fit: Fit;
}

/** The one pod to move now, or what keeps every pod of the surplus type where it is. */
export function nextMove(
  snapshot: RebalanceSnapshot,
  members: readonly Member[],
  standing: Standing,
  surplus: Surplus,
  nowMs: number,
): Decided {
  const { workload, settings } = snapshot;
  const ledger = ledgerDiffers(snapshot, members, standing);
  if (ledger !== null) return ledger;
  const template = workload.kind === 'StatefulSet' ? workload.template : activeRevision(workload)?.template;
  // Without a revision nothing is wanted, and the rollout gate is closed.
  if (template === undefined) return held('PodsMissing', { pods: members.length, wanted: workload.replicas });
  const { from } = surplus;
  const to = otherType(from);
  const nodes = withPlaceholder(snapshot.nodes, snapshot.placeholders[to]);
  const drifting: Drifting = {
    snapshot,
    members,
    standing,
    template,
    surplus,
    from,
    to,
    nowMs,
    nodes,
    fit: fitOf({ template, to, placement: settings.placement, nodes, members, room: 'free' }),
  };

  const allowed = allowedTypes(template.spec, settings.placement);
  if (allowed === 'none') return held('PlacementConflict', { to: null });
  if (allowed !== 'both' && allowed !== to) return held('PlacementConflict', { to });
  const candidates = candidatesOf(surplus.pods, {
    workload,
    numbers: standing.numbers,
    from,
    minPodAgeMs: settings.minPodAgeMs,
    nowMs,
  });
  const missing = noCapacity(drifting, candidates);
  if (missing?.reason === 'NoCapacity') return prove(drifting, candidates, missing);
  return missing ?? singleReplica(snapshot) ?? withAvailable(drifting, candidates);
}

/** To see whether capacity is all that is missing. */
const anywhere: Fit = () => ({ kind: 'fits', node: '' });

/** A placeholder may start an autoscaler, so it is for when nothing but capacity is missing. */
function prove(drifting: Drifting, candidates: Candidates, missing: DecidedFor<'NoCapacity'>): Decided {
  const { snapshot, members, template, to, nodes } = drifting;
  const { settings, workload, placeholders } = snapshot;
  const placeholder = placeholders[to];
  if (placeholder.kind === 'off') return missing;
  const otherwise = singleReplica(snapshot) ?? withAvailable({ ...drifting, fit: anywhere }, candidates);
  if (otherwise.verdict.kind !== 'move') return missing;
  // It would hold a node while the move waits for something else.
  if (snapshot.budgets.spent || !nodeIsFree(snapshot, otherwise.verdict.move.node)) return missing;
  const { uid } = otherwise.verdict.move.pod;
  const victim = members.find(({ pod }) => pod.uid === uid);
  const reading = shapeOf({
    template,
    to,
    placement: settings.placement,
    nodes,
    staying: members.filter((member) => member !== victim),
    volumes: victim?.pod.volumes ?? noVolumes,
    namespace: workload.namespace,
  });
  if (reading.kind === 'notProvable') return missing;
  return { ...missing, verdict: { kind: 'prove', to, shape: reading.shape } };
}

function ledgerDiffers(
  { workload }: RebalanceSnapshot,
  members: readonly Member[],
  standing: Standing,
): Decided | null {
  if (workload.kind === 'StatefulSet') return null;
  const ledger = activeRevision(workload)?.ledger ?? null;
  if (ledger !== null && agrees(ledger, standing)) return null;
  return held('LedgerDiffers', { ledger, sharing: sharingReservations(members) });
}

function sharingReservations(members: readonly Member[]): readonly string[] {
  const holders = new Map<string, string[]>();
  for (const { pod } of members) {
    const { token } = readPodMark(pod.annotations);
    if (token !== null) holders.set(token, [...(holders.get(token) ?? []), pod.name]);
  }
  return [...holders.values()].filter(({ length }) => length > 1).flat();
}

/** A pod whose node has lost its label keeps the type that it had in the ledger. */
function agrees(ledger: PodCounts, { counts, untyped }: Standing): boolean {
  const remembered = untyped - (ledger.untyped ?? 0);
  const spot = ledger.spot - counts.spot;
  const onDemand = ledger.onDemand - counts.onDemand;
  return spot >= 0 && onDemand >= 0 && spot + onDemand === remembered;
}

/** Nothing is evicted toward capacity that is not there. Whether volumes reach it is a question for each pod. */
function noCapacity(
  drifting: Drifting,
  { eligible }: Candidates,
): DecidedFor<'NotProvable'> | DecidedFor<'NoCapacity'> | null {
  const { to, template, snapshot } = drifting;
  const evidence = drifting.fit(null, noVolumes);
  if (evidence.kind === 'fits') return null;
  if (evidence.kind === 'notProvable') {
    return held('NotProvable', { to, constraint: evidence.constraint });
  }
  const makesRoom = (leaving: Member): boolean => drifting.fit(leaving, noVolumes).kind === 'fits';
  if (hasNeighbourRules(template) && evidence.readyNodes > 0 && eligible.some(makesRoom)) return null;
  const { readyNodes, misfits } = evidence;
  return held('NoCapacity', { to, readyNodes, misfits, placeholder: snapshot.placeholders[to] });
}

function singleReplica({ workload, settings }: RebalanceSnapshot): Decided | null {
  return workload.replicas === 1 && !settings.allowSingleReplica ? held('SingleReplica', {}) : null;
}

/** Goes on with the candidates that the application can spare. */
function withAvailable(drifting: Drifting, { eligible, exclusions }: Candidates): Decided {
  const { snapshot, members, from } = drifting;
  const { workload } = snapshot;
  let pool = eligible;
  if (workload.kind === 'StatefulSet' && workload.podManagement === 'OrderedReady') {
    const unready = members.filter(({ pod }) => !pod.ready);
    // One at a time, while all others are Ready; so a single stuck pod may go, and nothing beside it.
    if (unready.length > 0) pool = unready.length === 1 ? eligible.filter((one) => one === unready[0]) : [];
    if (unready.length > 0 && pool.length === 0) {
      return held('OthersNotReady', { pods: unready.map(({ pod }) => pod.name) });
    }
  }
  const { available, needed, sparesOne } = availabilityOf(workload, members);
  if (!sparesOne) {
    pool = pool.filter(({ pod }) => !pod.ready);
    const missing = Math.max(0, workload.replicas - members.length);
    if (pool.length === 0) return held('NotAvailable', { available, needed, missing });
  }
  if (from === 'on-demand') {
    // Counts keep the floor in any case; this keeps it when some of those counted are not running yet.
    const { minOnDemand } = drifting.standing.numbers;
    const floor = Math.min(minOnDemand, workload.replicas);
    const scheduled = members.filter(({ pod, type }) => type === from && pod.nodeName !== null).length;
    const safe = pool.filter(({ pod }) => pod.nodeName === null || scheduled - 1 >= floor);
    if (pool.length > 0 && safe.length === 0) return held('FloorAtRisk', { scheduled, floor });
    pool = safe;
  }
  if (pool.length === 0) return noCandidate(exclusions);
  return firstFree(drifting, pool, exclusions);
}

function noCandidate(exclusions: readonly Exclusion[]): Decided {
  const times = exclusions.map(({ untilMs }) => untilMs).filter((untilMs) => untilMs !== null);
  return held('NoCandidate', { exclusions }, times.length === 0 ? null : Math.min(...times));
}

/** The first in order that fits, that its PDB lets go and whose node has budget; else what holds the first. */
function firstFree(drifting: Drifting, pool: readonly Member[], exclusions: readonly Exclusion[]): Decided {
  const { snapshot, template } = drifting;
  const shared = drifting.fit(null, noVolumes);
  const unfit: Exclusion[] = [];
  let firstBlock: Decided | null = null;
  let onBusyNode: Decided | null = null;
  for (const member of pool) {
    const { pod } = member;
    const hasVolumes = pod.volumes.kind === 'unknown' || pod.volumes.affinities.length > 0;
    const evidence = hasVolumes || hasNeighbourRules(template) ? drifting.fit(member, pod.volumes) : shared;
    if (evidence.kind !== 'fits') {
      unfit.push({ pod: pod.name, reason: hasVolumes ? 'VolumeUnreachable' : 'NoFit', untilMs: null });
      continue;
    }
    const { blocked, pdb } = pdbGate(drifting, member);
    if (blocked !== null) {
      firstBlock ??= blocked;
      continue;
    }
    const move = moveOf(drifting, member, evidence.node, pdb);
    if (nodeIsFree(snapshot, pod.nodeName)) return move;
    // It is asked for all the same, and waits for its node, if no other pod may go.
    onBusyNode ??= move;
  }
  return onBusyNode ?? firstBlock ?? noCandidate([...exclusions, ...unfit]);
}

/** A pod without a node burdens none. */
const nodeIsFree = ({ budgets, settings }: RebalanceSnapshot, node: string | null): boolean =>
  node === null || (budgets.nodes.get(node) ?? 0) < settings.maxInFlight.node;

/** A PDB's status changes when pods do, of which the controller hears; this is for what it does not hear of. */
const PDB_RETRY_MS = 10_000;

function pdbGate(
  { snapshot, nowMs }: Drifting,
  { pod }: Member,
): { readonly blocked: Decided | null; readonly pdb: string | null } {
  const answer = askPdbs(pod, snapshot.pdbs);
  const retryAtMs = nowMs + PDB_RETRY_MS;
  switch (answer.kind) {
    case 'allows':
      return { blocked: null, pdb: answer.pdb };
    case 'tooMany':
      return { blocked: held('TwoPdbs', { pod: pod.name, pdbs: answer.pdbs }), pdb: null };
    case 'behind':
      return { blocked: held('PdbBehind', { pod: pod.name, pdb: answer.pdb }, retryAtMs), pdb: answer.pdb };
    case 'blocks': {
      const { pdb, healthy, needed, never } = answer;
      const facts = { pod: pod.name, pdb, healthy, needed, never };
      return { blocked: held('PdbBlocks', facts, never ? null : retryAtMs), pdb };
    }
    default:
      return answer satisfies never;
  }
}

function moveOf(
  { snapshot, standing, surplus, from, to }: Drifting,
  { pod, doom }: Member,
  evidence: string,
  pdb: string | null,
): Decided {
  const { numbers, counts, replicas } = standing;
  const node = pod.nodeName;
  const trial = snapshot.webhook.kind === 'bypassed';
  const floorIsShort = counts.onDemand < Math.min(numbers.minOnDemand, replicas);
  return {
    verdict: { kind: 'move', move: { pod: referenceTo(pod), from, to, node, evidence, pdb, trial } },
    reason: from === 'spot' && floorIsShort ? 'FloorShort' : surplus.reason,
    facts: { pod: pod.name, from, to, node, evidence, doom, ready: pod.ready },
  };
}
