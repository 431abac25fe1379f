import type { Placement } from '../capacity/placement.ts';
import type { CapacityType } from '../capacity/type.ts';
import { matchesPlacement, matchesTerms, toleratesAll } from './match.ts';
import { doomOf, type Nodes, type NodeView } from './node.ts';
import type { Member, PodVolumes } from './workload-pod.ts';
import { hasRoom } from './resources.ts';
import {
  antiAffinityRules,
  type CountedRule,
  countsFor,
  hardConstraints,
  type RuleWithout,
  spreadRules,
  unprovableConstraint,
} from './spread.ts';
import type { TemplateView } from './workload.ts';

/** Why Ready nodes of a type take no pod of the template, and how many there are. */
export interface Misfits {
  readonly readyNodes: number;
  readonly misfits: Readonly<Partial<Record<Misfit, number>>>;
}

/** What keeps a pod off a node. */
export type Misfit = 'Selector' | 'Taint' | 'Room' | 'Volume' | 'Spread' | 'AntiAffinity';

/** Whether there is capacity for one more pod of a type, and how that is known. */
export type Evidence =
  | { readonly kind: 'fits'; readonly node: string }
  | ({ readonly kind: 'none' } & Misfits)
  | { readonly kind: 'notProvable'; readonly constraint: string };

export interface FitQuestion {
  /** What the new pod is made of, not the pod that leaves: that one carries the pin to its present type. */
  readonly template: TemplateView;
  readonly to: CapacityType;
  readonly placement: Placement;
  readonly nodes: Nodes;
  /** The workload's pods that stay. */
  readonly staying: readonly Member[];
  /** Those the new pod would have: a StatefulSet's follow the ordinal. */
  readonly volumes: PodVolumes;
  /** What of a node may be used: what is free now, or all of it to ask whether the pod could ever fit. */
  readonly room: 'free' | 'allocatable';
}

/** Looks for a Ready node of the type on which a pod of the template would be scheduled. */
export function evidenceFor({ staying, volumes, ...question }: FitQuestion): Evidence {
  return fitOf({ ...question, members: staying })(null, volumes);
}

export interface CandidatesQuestion extends Omit<FitQuestion, 'staying' | 'volumes'> {
  /** The workload's pods, also those that might leave. */
  readonly members: readonly Member[];
}

/** The evidence for a pod with these volumes when one of the members has left; null: none has. */
export type Fit = (leaving: Member | null, volumes: PodVolumes) => Evidence;

/**
 * `evidenceFor` for many candidates of one workload: nodes are walked and neighbours counted once for all of them, and
 * candidates whose leaving makes the same difference share an answer.
 */
export function fitOf(question: CandidatesQuestion): Fit {
  const constraint = unprovableConstraint(question.template);
  if (constraint !== null) return () => ({ kind: 'notProvable', constraint });
  const place = placeOf(question);
  const rules = countedRules(question, place);
  const searches = new Map<string, OpenNodes>();
  const answers = new Map<string, Evidence>();
  return (leaving, volumes) => {
    const reach = JSON.stringify(volumes);
    const open =
      searches.get(reach) ?? new OpenNodes(question.nodes, staticMisfits(question, place, volumes));
    searches.set(reach, open);
    const neighbours = open.hasAny() ? rules(leaving) : [];
    const key = [reach, ...neighbours.map((one) => one.key)].join('\n');
    const answer = answers.get(key) ?? evidenceAmong(open, neighbours);
    answers.set(key, answer);
    return answer;
  };
}

/**
 * Whether pods of a type may find a place or lose one when this node comes, changes or goes. The counts of nodes that do
 * not fit are left to the next look, as is what the workload's own pods on it mean to the others: whoever asks looks at
 * the workload for these anyway.
 */
export function concerns(
  node: NodeView,
  question: Pick<FitQuestion, 'template' | 'to' | 'placement'>,
): boolean {
  const { matches, tolerates } = placeOf(question);
  if (node.type === question.to && matches(node) && tolerates(node)) return true;
  return hardConstraints(question.template).some((one) => countsFor(one, node, { matches, tolerates }));
}

function evidenceAmong(open: OpenNodes, neighbours: readonly Neighbour[]): Evidence {
  const crowded: Partial<Record<Misfit, number>> = {};
  for (const node of open) {
    const against = neighbours.find(({ allows }) => !allows(node));
    if (against === undefined) return { kind: 'fits', node: node.name };
    crowded[against.misfit] = (crowded[against.misfit] ?? 0) + 1;
  }
  return { kind: 'none', readyNodes: open.readyNodes, misfits: { ...crowded, ...open.misfits } };
}

/** Nodes that keep the pod off for no reason but its neighbours, looked for only as far as somebody asks. */
class OpenNodes implements Iterable<NodeView> {
  readonly #rest: Iterator<NodeView>;
  readonly #misfitOf: NodeJudgement;
  readonly #found: NodeView[] = [];
  /** This one and the next: of the nodes walked so far. */
  readyNodes = 0;
  readonly misfits: Partial<Record<Misfit, number>> = {};

  constructor(nodes: Nodes, misfitOf: NodeJudgement) {
    this.#rest = nodes.values();
    this.#misfitOf = misfitOf;
  }

  hasAny(): boolean {
    return this.#found.length > 0 || this.#findNext();
  }

  *[Symbol.iterator](): Generator<NodeView> {
    for (let index = 0; index < this.#found.length || this.#findNext(); index++) {
      const node = this.#found[index];
      if (node !== undefined) yield node;
    }
  }

  #findNext(): boolean {
    for (let next = this.#rest.next(); next.done !== true; next = this.#rest.next()) {
      const misfit = this.#misfitOf(next.value);
      if (misfit === 'NotAsked') continue;
      this.readyNodes++;
      if (misfit === null) {
        this.#found.push(next.value);
        return true;
      }
      this.misfits[misfit] = (this.misfits[misfit] ?? 0) + 1;
    }
    return false;
  }
}

/** Null: nothing that lasts keeps the pod off the node. */
type NodeJudgement = (node: NodeView) => Misfit | 'NotAsked' | null;

/** Where pods of the template may go, whatever is there. */
interface Place {
  readonly isAsked: (node: NodeView) => boolean;
  readonly matches: (node: NodeView) => boolean;
  readonly tolerates: (node: NodeView) => boolean;
}

function placeOf({ template, to, placement }: Pick<FitQuestion, 'template' | 'to' | 'placement'>): Place {
  const target = placement.byType[to];
  const tolerations = [...(template.spec.tolerations ?? []), ...target.tolerations];
  return {
    isAsked: (node) => node.type === to && doomOf(node) === null,
    matches: (node) => matchesPlacement(node, template.spec, target),
    tolerates: (node) => toleratesAll(tolerations, node.taints),
  };
}

/** What keeps the pod off a node beside its neighbours, the most lasting first. */
function staticMisfits(
  { template, room }: CandidatesQuestion,
  { isAsked, matches, tolerates }: Place,
  volumes: PodVolumes,
): NodeJudgement {
  const requests = { ...template.requests, pods: 1 };
  return (node) => {
    if (!isAsked(node)) return 'NotAsked';
    if (!matches(node)) return 'Selector';
    if (!tolerates(node)) return 'Taint';
    if (volumes.kind === 'unknown' || !volumes.affinities.every((terms) => matchesTerms(node, terms))) {
      return 'Volume';
    }
    return hasRoom(node[room], requests) ? null : 'Room';
  };
}

interface Neighbour extends RuleWithout {
  readonly misfit: Misfit;
}

/** What neighbours say when one has left. Counting them walks all nodes; most nodes are refused before that. */
function countedRules(
  { template, members, nodes }: CandidatesQuestion,
  place: Place,
): (leaving: Member | null) => readonly Neighbour[] {
  const neighbourhood = { template, members, nodes, ...place };
  let counted: readonly (readonly [Misfit, CountedRule])[] | null = null;
  return (leaving) => {
    counted ??= [
      ...antiAffinityRules(neighbourhood).map((rule) => ['AntiAffinity', rule] as const),
      ...spreadRules(neighbourhood).map((rule) => ['Spread', rule] as const),
    ];
    return counted.map(([misfit, without]) => ({ misfit, ...without(leaving) }));
  };
}
