import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { CapacityType } from '../../capacity/type.ts';
import type { WorkloadPod } from '../../cluster/workload-pod.ts';
import { membersOf } from '../../cluster/member.ts';
import { type PolicyNumbers, targetSpot } from '../../policy/target.ts';
import { policyNumbers, propertyRuns } from '../../testing/arbitraries.ts';
import { bothNodes, deployment, pod, revision } from '../../testing/rebalance.ts';
import { standingOf } from './standing.ts';

type Types = readonly (CapacityType | null)[];

/** Of a Deployment with one ReplicaSet for each list of pods. */
function standing(numbers: PolicyNumbers, revisions: readonly Types[]) {
  const pods = revisions.flatMap((types, index): WorkloadPod[] =>
    types.map((type, number) =>
      pod(`${index}-${number}`, { type, controller: { kind: 'ReplicaSet', uid: `rs-${index}` } }),
    ),
  );
  const workload = deployment(pods.length, {
    revisions: revisions.map(({ length }, index) => revision(length, { uid: `rs-${index}` })),
  });
  return standingOf(workload, numbers, membersOf(workload, pods, bothNodes));
}

const typesOf = (spot: number, onDemand: number): Types => [
  ...Array.from({ length: spot }, () => 'spot' as const),
  ...Array.from({ length: onDemand }, () => 'on-demand' as const),
];

/** As admission fills a ReplicaSet. */
const filled = (numbers: PolicyNumbers, size: number): Types => {
  const spot = targetSpot(numbers, size);
  return typesOf(spot, size - spot);
};

const anySizes = fc.array(fc.nat(12), { maxLength: 4 });
const anyTypes = fc.array(
  fc.array(fc.constantFrom('spot' as const, 'on-demand' as const, null), { maxLength: 8 }),
  { maxLength: 3 },
);

describe('the drift', () => {
  it('is none in a rollout whose ReplicaSets each have the share of their own pods', () => {
    const half = { spotPercentage: 50, minOnDemand: 0 };
    expect(standing(half, [filled(half, 3), filled(half, 7)])).toMatchObject({
      counts: { spot: 6, onDemand: 4 },
      target: 6,
      drift: 0,
    });
    fc.assert(
      fc.property(policyNumbers, anySizes, (numbers, sizes) => {
        const all = sizes.map((size) => filled(numbers, size));
        expect(standing(numbers, all).drift).toBe(0);
      }),
      propertyRuns,
    );
  });

  it('is the least that it can be, whatever the types that nobody knows turn out to be', () => {
    fc.assert(
      fc.property(policyNumbers, anyTypes, (numbers, revisions) => {
        const { counts, untyped, target, drift } = standing(numbers, revisions);
        const possible = Array.from({ length: untyped + 1 }, (_, more) => counts.spot + more - target);
        expect(Math.abs(drift)).toBe(Math.min(...possible.map(Math.abs)));
        expect(possible).toContain(drift);
      }),
      propertyRuns,
    );
  });
});
