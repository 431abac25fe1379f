import { allowedTypes } from '../capacity/allowed.ts';
import type { Placement } from '../capacity/placement.ts';
import { evidenceFor } from '../cluster/fit.ts';
import type { Nodes } from '../cluster/node.ts';
import type { Member, PodVolumes } from '../cluster/workload-pod.ts';
import type { TemplateView, WorkloadView } from '../cluster/workload.ts';
import { typesReached } from './reach.ts';

export interface StuckContext {
  readonly workload: WorkloadView;
  readonly placement: Placement;
  /** One empty node of each shape seen lately, of both types. */
  readonly shapes: Nodes;
}

export interface StuckPod {
  readonly member: Member;
  readonly sinceMs: number;
}

/**
 * The spot pods that wait for capacity and would be helped by a substitute, the longest waiting first. A request
 * that no node of the type could ever meet is no drought; and a pod that may run nowhere else would come back as it
 * was.
 */
export function stuckPods(members: readonly Member[], context: StuckContext): readonly StuckPod[] {
  const waiting = members.filter(({ pod, type }) => type === 'spot' && pod.unschedulableSinceMs !== null);
  const answers = new Map<string, boolean>();
  const isDrought = (member: Member): boolean => {
    const template = templateOf(member, context.workload);
    if (template === undefined) return false;
    const { volumes, controller } = member.pod;
    // Pods of one revision without volumes all have the same answer.
    const key = hasVolumes(volumes) ? member.pod.uid : (controller?.uid ?? '');
    const known = answers.get(key);
    if (known !== undefined) return known;
    const answer = couldRun(template, volumes, context);
    answers.set(key, answer);
    return answer;
  };
  return waiting
    .filter(isDrought)
    .map((member) => ({ member, sinceMs: member.pod.unschedulableSinceMs ?? 0 }))
    .toSorted((a, b) => a.sinceMs - b.sinceMs);
}

function couldRun(template: TemplateView, volumes: PodVolumes, { placement, shapes }: StuckContext): boolean {
  if (allowedTypes(template.spec, placement) !== 'both') return false;
  if (hasVolumes(volumes) && typesReached(volumes, shapes) !== 'both') return false;
  const known = [...shapes.values()].some(({ type }) => type === 'spot');
  const evidence = evidenceFor({
    // Neighbours are a matter of the moment, an empty node has none.
    template: alone(template),
    // Where no spot node was ever seen, the place of the substitute has to tell whether the request is possible.
    to: known ? 'spot' : 'on-demand',
    placement,
    nodes: shapes,
    staying: [],
    volumes,
    room: 'allocatable',
  });
  return evidence.kind === 'fits';
}

const hasVolumes = (volumes: PodVolumes): boolean =>
  volumes.kind === 'unknown' || volumes.affinities.length > 0;

function alone(template: TemplateView): TemplateView {
  const { podAffinity: _with, podAntiAffinity: _without, ...affinity } = template.spec.affinity ?? {};
  const spec = { ...template.spec, affinity, topologySpreadConstraints: null };
  return { ...template, spec, hostPort: false };
}

function templateOf({ pod }: Member, workload: WorkloadView): TemplateView | undefined {
  if (workload.kind === 'StatefulSet') return workload.template;
  return workload.revisions.find(({ uid, replicas }) => uid === pod.controller?.uid && replicas > 0)
    ?.template;
}
