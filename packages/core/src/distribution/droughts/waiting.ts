import { allowedTypes } from '../../capacity/allowed.ts';
import type { Placement } from '../../capacity/placement.ts';
import type { CapacityType } from '../../capacity/type.ts';
import { evidenceFor } from '../../cluster/fit.ts';
import type { Nodes } from '../../cluster/node.ts';
import type { Member, PodVolumes } from '../../cluster/workload-pod.ts';
import type { TemplateView, WorkloadView } from '../../cluster/workload.ts';
import { typesReached } from './reach.ts';

/** What a pod without a node waits for. In the order in which people are told. */
export const waitOrder = [
  /** A substitute would help. */
  'SpotCapacity',
  'OnDemandCapacity',
  /** Its own affinity or its volume rules out on-demand. */
  'SpotOnly',
  /** Its volume is out of reach of every spot node that is known. */
  'VolumeUnreachable',
  /** No node that is known could take it, were it empty. */
  'NoSuchNode',
  /** Nobody gave it a type, or its revision is gone. */
  'AnyNode',
  /** The scheduler has not said anything about it. */
  'Scheduler',
  'SchedulingGate',
  'Preemption',
  'Volume',
] as const;

export type Wait = (typeof waitOrder)[number];

export interface WaitContext {
  readonly workload: WorkloadView;
  readonly placement: Placement;
  /** One empty node of each shape seen lately, of both types. Asked for only when a pod waits for capacity. */
  readonly shapes: () => Nodes;
}

export interface WaitingPod {
  readonly member: Member;
  readonly wait: Wait;
  readonly sinceMs: number;
}

/** It waits for spot capacity, and a substitute would help. */
export const isStuck = ({ wait }: WaitingPod): boolean => wait === 'SpotCapacity';

const untold: ReadonlySet<Wait> = new Set(['SpotCapacity', 'AnyNode', 'Scheduler', 'Preemption']);

/** A spot pod that shows whether there is capacity when it gets a node. */
export const mayYetTell = ({ member, wait }: WaitingPod): boolean =>
  member.type === 'spot' && untold.has(wait);

/** Every pod without a node, the longest waiting first. */
export function waitingPods(members: readonly Member[], context: WaitContext): readonly WaitingPod[] {
  const answers = new Map<string, Wait>();
  const waitForSpot = (member: Member): Wait => {
    const { volumes, controller } = member.pod;
    // Pods of one revision without volumes all have the same answer.
    const key = hasVolumes(volumes) ? member.pod.uid : (controller?.uid ?? '');
    const answer = answers.get(key) ?? spotWait(member, context);
    answers.set(key, answer);
    return answer;
  };
  const waitOf = (member: Member): Wait => {
    const { holdup, unschedulableSinceMs } = member.pod;
    if (holdup !== null) return holdup;
    if (unschedulableSinceMs === null) return 'Scheduler';
    if (member.type === null) return 'AnyNode';
    return member.type === 'spot' ? waitForSpot(member) : 'OnDemandCapacity';
  };
  return members
    .filter(({ pod }) => pod.nodeName === null)
    .map((member) => ({
      member,
      wait: waitOf(member),
      sinceMs: member.pod.unschedulableSinceMs ?? member.pod.createdAtMs,
    }))
    .toSorted((a, b) => a.sinceMs - b.sinceMs);
}

function spotWait(member: Member, { workload, placement, shapes }: WaitContext): Wait {
  const template = templateOf(member, workload);
  if (template === undefined) return 'AnyNode';
  const { volumes } = member.pod;
  const nodes = shapes();
  if (allowedTypes(template.spec, placement) !== 'both') return 'SpotOnly';
  if (hasVolumes(volumes)) {
    const reached = typesReached(volumes, nodes);
    if (reached === 'spot') return 'SpotOnly';
    if (reached !== 'both') return 'VolumeUnreachable';
  }
  const fits = (to: CapacityType): boolean =>
    evidenceFor({
      // Neighbours are a matter of the moment, an empty node has none.
      template: alone(template),
      to,
      placement,
      nodes,
      staying: [],
      volumes,
      room: 'allocatable',
    }).kind === 'fits';
  // Where no spot node was ever seen that takes it, the place of the substitute tells whether the request is possible.
  return fits('spot') || fits('on-demand') ? 'SpotCapacity' : 'NoSuchNode';
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
