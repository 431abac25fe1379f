import type { ContainerTrace } from './container.ts';
import type { RightsizingTrace } from './decide.ts';
import { type SizedResource, sizedResources } from './evidence/point.ts';
import type { OptimizationStatus } from './optimization-policy.ts';
import type { Amounts } from './sizing.ts';

/** What the template requests in all pods, less what the targets do. Negative where more is needed. */
export function savingOf(containers: readonly ContainerTrace[], pods: number): Amounts {
  const saved = (resource: SizedResource): number =>
    containers.reduce(
      (sum, { template, target }) =>
        sum + (template.requests[resource] ?? 0) - (target.requests[resource] ?? 0),
      0,
    ) * pods;
  return { cpu: saved('cpu'), memory: saved('memory') };
}

/** How large the change is, as a share of what the template requests: the larger of both resources. */
export function changeOf(containers: readonly ContainerTrace[]): number {
  const saved = savingOf(containers, 1);
  return Math.max(
    ...sizedResources.map((resource) => {
      const written = containers.reduce((sum, { template }) => sum + (template.requests[resource] ?? 0), 0);
      return written === 0 ? 0 : Math.abs(saved[resource]) / written;
    }),
  );
}

/** The counts of a policy's status. `conflicting` are workloads that it selects and another policy acts on. */
export function countsOf(
  traces: readonly RightsizingTrace[],
  conflicting: number,
): NonNullable<OptimizationStatus['counts']> {
  const inState = (...states: readonly RightsizingTrace['state'][]) =>
    traces.filter(({ state }) => states.includes(state)).length;
  return {
    selected: traces.length,
    applied: inState('Applied'),
    applying: inState('Applying'),
    skipped: inState('Skipped', 'Error'),
    conflicting,
  };
}
