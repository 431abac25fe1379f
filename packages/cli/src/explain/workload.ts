import {
  askPdbs,
  availabilityOf,
  closing,
  decide,
  explainDrought,
  explainRebalance,
  isOpen,
  keyPrefix,
  type Member,
  membersOf,
  nextOpening,
  type ObservedWorkload,
  type OrdinalStanding,
  policyKeys,
  type RebalanceSnapshot,
  type RebalanceTrace,
  readPodMark,
} from '@spotalis/core';
import type { Told } from '../cluster/events.ts';
import type { MoveFootprint, Survey } from '../cluster/survey.ts';
import { span } from '../output/output.ts';
import { subjectOf } from '../status/row.ts';

/** A paragraph with a name, each sentence a line. */
export interface Paragraph {
  readonly title: string;
  readonly sentences: readonly string[];
}

export interface Explanation {
  readonly subject: string;
  readonly namespace: string;
  readonly paragraphs: readonly Paragraph[];
  /** What programs go by. */
  readonly decision: RebalanceTrace | null;
  readonly notes: readonly string[];
}

const at = (timeMs: number): string => new Date(timeMs).toISOString().replace(/\.\d+Z$/, 'Z');

export function explainWorkload(
  survey: Survey,
  workload: ObservedWorkload,
  { footprint, told, nowMs }: { footprint: MoveFootprint; told: readonly Told[]; nowMs: number },
): Explanation {
  const snapshot = survey.snapshotOf(workload, footprint);
  const decision = decide(snapshot, nowMs);
  const paragraphs: Paragraph[] = [
    { title: 'Decision', sentences: [explainRebalance(decision)] },
    { title: 'Policy', sentences: policySentences(workload, snapshot, survey) },
  ];
  if (snapshot.managed.managed && snapshot.policy.kind !== 'none') {
    paragraphs.push(
      { title: 'Pods', sentences: podSentences(snapshot, decision) },
      ...droughtParagraph(snapshot, survey, nowMs),
      { title: 'Limits', sentences: limitSentences(snapshot, survey, nowMs) },
    );
  }
  if (told.length > 0) {
    const sentences = told
      .slice(0, 3)
      .map(({ atMs, reason, note }) => `${span(nowMs - atMs)} ago, ${reason}: ${note}`);
    paragraphs.push({ title: 'Lately', sentences });
  }
  return {
    subject: subjectOf(workload),
    namespace: workload.metadata.namespace ?? '',
    paragraphs,
    decision,
    notes: survey.notes,
  };
}

function policySentences(
  { annotations }: ObservedWorkload,
  { policy }: RebalanceSnapshot,
  { settings }: Survey,
): readonly string[] {
  const problems = policy.problems.map(({ message }) => message);
  if (policy.kind === 'none') return problems;
  if (policy.kind === 'invalid') {
    return ['A number is invalid, so new pods go to on-demand and no pod is moved.', ...problems];
  }
  const { spotPercentage, minOnDemand } = policy.numbers;
  const own = Object.keys(annotations).some((key) => key.startsWith(keyPrefix) && isNumber(key));
  const origin = own ? '' : `, by default of its namespace or the configuration (${settings.origin})`;
  const told = [
    `${spotPercentage} % of the replicas on spot, and at least ${minOnDemand} on on-demand${origin}.`,
  ];
  if (policy.kind === 'frozen') told.push('The rest of it is invalid, so no pod is moved.');
  return [...told, ...problems];
}

const isNumber = (key: string): boolean =>
  key === policyKeys.spotPercentage || key === policyKeys.minOnDemand;

const countOf = (count: number, what: string): string => `${count} ${count === 1 ? 'pod' : 'pods'} ${what}`;

function podSentences(
  { workload, pods, nodes }: RebalanceSnapshot,
  { standing }: RebalanceTrace,
): readonly string[] {
  if (standing === null) return [];
  const members = membersOf(workload, pods, nodes);
  const { counts, target, untyped, onUnknownNodes } = standing;
  const told = [
    `${counts.spot} on spot of ${target} that should be, ${counts.onDemand} on on-demand of ${members.length - target}; ${workload.replicas} are wanted.`,
  ];
  const substitutes = members.filter(
    ({ pod, type }) => type === 'on-demand' && readPodMark(pod.annotations).substitute,
  );
  if (substitutes.length > 0) {
    told.push(
      `${countOf(substitutes.length, 'on on-demand')} in place of spot pods, because there was no spot capacity; moved back when there is.`,
    );
  }
  const waiting = members.filter(({ pod }) => pod.nodeName === null);
  if (waiting.length > 0) told.push(`${countOf(waiting.length, 'without a node yet')}.`);
  const doomed = members.filter(({ doom }) => doom !== null);
  if (doomed.length > 0) told.push(`${countOf(doomed.length, 'on nodes that are about to go')}.`);
  const unmarked = members.filter(({ pod }) => readPodMark(pod.annotations).type === null);
  if (unmarked.length > 0)
    told.push(`${countOf(unmarked.length, 'from before it was managed, or created past the webhook')}.`);
  if (onUnknownNodes > 0)
    told.push(`${countOf(onUnknownNodes, 'on nodes that are neither spot nor on-demand')}.`);
  if (untyped > 0) told.push(`${countOf(untyped, 'of neither type')}.`);
  if (standing.ordinals !== undefined) told.push(...ordinalSentences(standing.ordinals));
  return told;
}

function ordinalSentences({ belowFloor, worst }: OrdinalStanding): readonly string[] {
  const told: string[] = [];
  if (belowFloor > 0) {
    told.push(
      `${countOf(belowFloor, 'on spot')} must move to on-demand: a scale-down removes the highest ordinals first, and would break the floor.`,
    );
  }
  if (worst !== null) {
    const { replicas, off } = worst;
    told.push(
      `Scaled down to ${replicas} now, ${countOf(off, 'would be on the wrong type')} until it is repaired: a StatefulSet removes its highest ordinals, whatever they are on.`,
    );
  }
  return told;
}

/** Nothing where nobody tells of one. */
export function droughtParagraph(
  { drought }: RebalanceSnapshot,
  { droughts: { told } }: Survey,
  nowMs: number,
): readonly Paragraph[] {
  if (drought.kind !== 'told') return [];
  const sentences = explainDrought(drought.report, drought.poolIsOpen);
  if (sentences.length === 0) return [];
  const tellers = told.map(({ writer, writtenAtMs }) => `${writer} ${span(nowMs - writtenAtMs)} ago`);
  return [{ title: 'Drought', sentences: [...sentences, `Told by ${tellers.join(' and ')}.`] }];
}

/** An unready pod may go where a Ready one may not, and a Pending one always: what is said is about the others. */
function telling(members: readonly Member[]): readonly Member[] {
  const ready = members.filter(({ pod }) => pod.ready);
  if (ready.length > 0) return ready;
  const running = members.filter(({ pod }) => pod.phase !== 'Pending');
  return running.length > 0 ? running : members;
}

function limitSentences(snapshot: RebalanceSnapshot, { settings }: Survey, nowMs: number): readonly string[] {
  const { workload, pods, nodes, pdbs, policy, settings: rebalance } = snapshot;
  const members = membersOf(workload, pods, nodes);
  const told: string[] = [];
  const windows = [
    { name: 'Its own window', window: policy.kind === 'valid' ? policy.window : null },
    { name: "The cluster's window", window: rebalance.window },
  ];
  for (const { name, window } of windows) {
    if (window === null) continue;
    const until = isOpen(window, nowMs) ? closing(window, nowMs) : nextOpening(window, nowMs);
    const state = isOpen(window, nowMs) ? 'open' : 'closed';
    told.push(`${name} is ${state}${until === null ? '' : ` until ${at(until)}`}.`);
  }
  const { available, needed } = availabilityOf(workload, members);
  told.push(`${countOf(available, 'available')}, and ${needed} must be left after a move.`);
  const answers = new Map(
    telling(members)
      .map(({ pod }) => askPdbs(pod, pdbs))
      .map((answer) => [JSON.stringify(answer), answer]),
  );
  for (const answer of answers.values()) {
    if (answer.kind === 'blocks') {
      told.push(
        `PodDisruptionBudget ${answer.pdb} lets none go: ${answer.healthy} pods are healthy and ${answer.needed} must stay so.`,
      );
    } else if (answer.kind === 'tooMany') {
      told.push(
        `More than one PodDisruptionBudget selects its pods (${answer.pdbs.join(', ')}): none can be evicted.`,
      );
    } else if (answer.kind === 'allows' && answer.pdb !== null) {
      told.push(`PodDisruptionBudget ${answer.pdb} lets one go now.`);
    }
  }
  const { cooldown, maxMovesPerMinute, maxInFlight } = settings.values.rebalance;
  told.push(
    `One pod at a time, ${span(cooldown)} of rest after each, no more than ${maxMovesPerMinute} moves a minute and ${maxInFlight.cluster} at once in the whole cluster (${settings.origin}).`,
  );
  return told;
}
