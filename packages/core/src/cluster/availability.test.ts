import { describe, expect, it } from '@jest/globals';
import { altered, bothNodes, deploymentOf, ordinalPod, podsOf, statefulSet } from '../testing/rebalance.ts';
import { availabilityOf } from './availability.ts';
import { membersOf } from './member.ts';
import type { DeploymentView } from './workload.ts';

/** Ten pods on spot, of which so many are Ready. */
function availability(ready: number, change: Partial<DeploymentView> = {}) {
  const pods = podsOf(10, 0, { spotPercentage: 100, minOnDemand: 0 }).map((one, index) =>
    altered(one, { ready: index < ready }),
  );
  const workload = deploymentOf(pods, { availableReplicas: 10, ...change });
  return availabilityOf(workload, membersOf(workload, pods, bothNodes));
}

const rolling = (maxUnavailable: number | string): Partial<DeploymentView> => ({
  strategy: { type: 'RollingUpdate', maxUnavailable },
});

describe('a Ready pod may go', () => {
  it.each([
    [10, '25%', true],
    [9, '25%', true],
    [8, '25%', false],
    [10, '10%', true],
    [9, '10%', false],
    [8, 3, true],
    [7, 3, false],
  ])('when of ten %i are available and %s may be away: %s', (ready, maxUnavailable, sparesOne) => {
    expect(availability(ready, rolling(maxUnavailable)).sparesOne).toBe(sparesOne);
  });

  it.each([0, '0%', '9%'])('one at a time where the strategy lets %s be away', (maxUnavailable) => {
    expect(availability(10, rolling(maxUnavailable))).toEqual({ available: 10, needed: 9, sparesOne: true });
    expect(availability(9, rolling(maxUnavailable)).sparesOne).toBe(false);
  });

  it('one at a time of a Recreate Deployment and of a StatefulSet', () => {
    expect(availability(9, { strategy: { type: 'Recreate' } })).toMatchObject({
      needed: 9,
      sparesOne: false,
    });
    const pods = [0, 1, 2].map((ordinal) => ordinalPod(ordinal, 'spot'));
    const workload = statefulSet(3, { availableReplicas: 3 });
    const members = membersOf(workload, pods, bothNodes);
    expect(availabilityOf(workload, members)).toEqual({ available: 3, needed: 2, sparesOne: true });
    expect(availabilityOf({ ...workload, availableReplicas: 2 }, members).sparesOne).toBe(false);
  });

  it('by whichever of status and pods knows of fewer', () => {
    expect(availability(10, { ...rolling(1), availableReplicas: 9 })).toMatchObject({
      available: 9,
      sparesOne: false,
    });
  });
});
