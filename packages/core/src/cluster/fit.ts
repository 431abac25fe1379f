import type { Placement } from '../capacity/placement.ts';
import type { CapacityType } from '../capacity/type.ts';
import { matchesPlacement, matchesTerms, toleratesAll } from './match.ts';
import { doomOf, type Nodes, type NodeView } from './node.ts';
import type { Member, PodVolumes } from './workload-pod.ts';
import { hasRoom, type Resources } from './resources.ts';
import {
  antiAffinityRules,
  type NeighbourRule,
  type Neighbourhood,
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
export function evidenceFor(question: FitQuestion): Evidence {
  const constraint = unprovableConstraint(question.template);
  if (constraint !== null) return { kind: 'notProvable', constraint };
  const misfitOf = misfits(question);
  const found: Partial<Record<Misfit, number>> = {};
  let readyNodes = 0;
  for (const node of question.nodes.values()) {
    if (node.type !== question.to || doomOf(node) !== null) continue;
    readyNodes++;
    const misfit = misfitOf(node);
    if (misfit === null) return { kind: 'fits', node: node.name };
    found[misfit] = (found[misfit] ?? 0) + 1;
  }
  return { kind: 'none', readyNodes, misfits: found };
}

/** What keeps the pod off a node, the most lasting first; null when nothing does. */
function misfits(question: FitQuestion): (node: NodeView) => Misfit | null {
  const { template, to, placement, volumes, room } = question;
  const target = placement.byType[to];
  const tolerations = [...(template.spec.tolerations ?? []), ...target.tolerations];
  const matches = (node: NodeView): boolean => matchesPlacement(node, template.spec, target);
  const tolerates = (node: NodeView): boolean => toleratesAll(tolerations, node.taints);
  const neighbourhood = { template, members: question.staying, nodes: question.nodes, matches, tolerates };
  const rules = lazyRules(neighbourhood);
  return (node) => {
    if (!matches(node)) return 'Selector';
    if (!tolerates(node)) return 'Taint';
    if (volumes.kind === 'unknown' || !volumes.affinities.every((terms) => matchesTerms(node, terms))) {
      return 'Volume';
    }
    if (!hasRoom(roomOf(node, room), { ...template.requests, pods: 1 })) return 'Room';
    const { spread, antiAffinity } = rules();
    if (!antiAffinity.every((allows) => allows(node))) return 'AntiAffinity';
    return spread.every((allows) => allows(node)) ? null : 'Spread';
  };
}

interface NeighbourRules {
  readonly spread: readonly NeighbourRule[];
  readonly antiAffinity: readonly NeighbourRule[];
}

/** Working them out walks all nodes; most nodes are refused before that. */
function lazyRules(neighbourhood: Neighbourhood): () => NeighbourRules {
  let rules: NeighbourRules | null = null;
  return () =>
    (rules ??= { spread: spreadRules(neighbourhood), antiAffinity: antiAffinityRules(neighbourhood) });
}

const roomOf = (node: NodeView, room: FitQuestion['room']): Resources => node[room];
