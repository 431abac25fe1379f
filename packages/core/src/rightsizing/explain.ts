import type { ContainerTrace } from './container.ts';
import type { RightsizingTrace } from './decide.ts';
import { type SizedResource, sizedResources } from './evidence/point.ts';
import type { LimitTrace } from './limit.ts';
import type { PodTrace } from './pod.ts';
import { rightsizingReasons, type RightsizingReason } from './reason.ts';
import type { Sizing } from './sizing.ts';

const MiB = 2 ** 20;

/** `250m`, or `512Mi`; small amounts of memory in bytes. */
const amountText = (resource: SizedResource, amount: number | null): string => {
  if (amount === null) return 'none';
  if (resource === 'cpu') return `${Math.round(amount)}m`;
  return amount < MiB ? `${Math.round(amount)}` : `${Number((amount / MiB).toFixed(1))}Mi`;
};

const titles: Readonly<Record<SizedResource, string>> = { cpu: 'CPU', memory: 'memory' };

function because(reason: RightsizingReason): string {
  const { means, remedy } = rightsizingReasons[reason];
  return `${reason}: ${means}${remedy === null ? '' : ` (to change it: ${remedy})`}`;
}

/** Why each amount is what it is, one sentence a line: usage, percentile, factor, bounds, each guard, what holds it. */
export function explainSizes(
  { state, reason, containers, pods }: RightsizingTrace,
  sizing: Sizing,
): readonly string[] {
  return [
    `${state}: ${because(reason)}.`,
    ...containers.flatMap((container) => explainContainer(container, sizing)),
    ...explainPods(pods),
  ];
}

function explainContainer(container: ContainerTrace, sizing: Sizing): readonly string[] {
  const { name, usage } = container;
  const seen = usage === null ? 'no fresh usage' : `${usage.samples} minutes of usage`;
  return [
    `Container ${name}: ${seen}.`,
    ...sizedResources.flatMap((resource) => explainAmount(resource, container, sizing)),
  ];
}

function explainAmount(
  resource: SizedResource,
  { requests, limits }: ContainerTrace,
  sizing: Sizing,
): readonly string[] {
  const { recommendation, guards, before, target, reason } = requests[resource];
  const show = (amount: number | null) => amountText(resource, amount);
  const title = titles[resource];
  const { min, max } = sizing.bounds[resource];
  const formula =
    recommendation === null
      ? []
      : [
          `  ${title}: ${sizing.percentile[resource]} is ${show(recommendation.percentile)}, times ${recommendation.factor} is ${show(recommendation.raw)}; within ${show(min)} to ${show(max)} the recommendation is ${show(recommendation.amount)}.`,
        ];
  const guarded = guards
    .filter((guard, index) => index > 0 || guard.reason !== 'PolicyBounds')
    .map((guard) => `  ${title}: ${show(guard.from)} becomes ${show(guard.to)}. ${because(guard.reason)}.`);
  const end =
    target === before
      ? `  ${title}: the target stays ${show(before)}. ${because(reason)}.`
      : `  ${title}: the target goes from ${show(before)} to ${show(target)}. ${because(reason)}.`;
  return [...formula, ...guarded, end, ...explainLimit(resource, limits[resource])];
}

function explainLimit(resource: SizedResource, { limit, reason, needed }: LimitTrace): readonly string[] {
  if (reason === null) return [];
  const wants = needed === null ? '' : ` ${amountText(resource, needed)} would do.`;
  return [`  ${titles[resource]} limit: ${amountText(resource, limit)}.${wants} ${because(reason)}.`];
}

const obstacles: Readonly<Record<NonNullable<PodTrace['obstacle']>, string>> = {
  NotAllowed: '`allowInPlaceResize` is false',
  Unsupported: 'the API server or the node cannot resize in place',
  Restart: 'the change would restart a container',
};

/** Pods of one reason share a line. */
function explainPods(pods: readonly PodTrace[]): readonly string[] {
  const byReason = new Map<PodTrace['reason'], readonly PodTrace[]>();
  for (const pod of pods) byReason.set(pod.reason, [...(byReason.get(pod.reason) ?? []), pod]);
  return [...byReason].map(([reason, those]) => {
    const obstacle = those.find((each) => each.obstacle !== null)?.obstacle ?? null;
    const why = obstacle === null ? '' : ` Not in place: ${obstacles[obstacle]}.`;
    return `${those.length} ${those.length === 1 ? 'pod' : 'pods'}: ${because(reason)}.${why}`;
  });
}
