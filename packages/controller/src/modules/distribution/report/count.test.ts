import { describe, expect, it } from '@jest/globals';
import { readPolicy } from '@spotalis/core';
import { aManagedCluster, aNode, aPod } from '../../../testing/objects.ts';
import { countWorkload } from './count.ts';

const policyOf = (percentage?: string, floor?: string) =>
  readPolicy({
    workload: {
      ...(percentage === undefined ? {} : { 'spotalis.io/spot-percentage': percentage }),
      ...(floor === undefined ? {} : { 'spotalis.io/min-on-demand': floor }),
    },
    namespace: {},
    defaults: {},
  });

const spot = { token: 't', type: 'spot', rank: 0 };
const onDemand = { token: 't', type: 'on-demand', rank: 0 };

function count(pods: Parameters<typeof aPod>[1][], policy = policyOf('50'), replicas = pods.length) {
  const cluster = aManagedCluster();
  cluster.nodes.upsert(aNode('mystery', undefined), true);
  return countWorkload(
    { replicas, policy, pods: pods.map((change, index) => aPod(`p${index}`, change)) },
    (pod) => cluster.nodeTypeOf(pod),
  );
}

describe('the count of a workload', () => {
  it('has a scheduled pod as its node is, whatever admission gave it', () => {
    expect(count([{ node: 'od-1', mark: spot }]).actual).toEqual({ spot: 0, onDemand: 1, unknown: 0 });
    expect(count([{ node: 'spot-1', mark: onDemand }]).actual).toEqual({ spot: 1, onDemand: 0, unknown: 0 });
    expect(count([{ node: 'spot-1' }]).actual).toEqual({ spot: 1, onDemand: 0, unknown: 0 });
  });

  it('has an unscheduled pod as admission gave it', () => {
    expect(count([{ mark: spot }, { mark: onDemand }]).actual).toEqual({ spot: 1, onDemand: 1, unknown: 0 });
  });

  it('shows pods on unrecognised nodes as unknown', () => {
    const { actual } = count([
      { node: 'mystery', mark: spot },
      { node: 'od-1', mark: onDemand },
    ]);
    expect(actual).toEqual({ spot: 0, onDemand: 1, unknown: 1 });
  });

  it('leaves out terminating, succeeded and failed pods', () => {
    const node = 'spot-1';
    const ended = [
      { node, terminating: true },
      { node, phase: 'Succeeded' },
      { node, phase: 'Failed' },
    ];
    const { actual } = count([{ node }, ...ended]);
    expect(actual).toEqual({ spot: 1, onDemand: 0, unknown: 0 });
  });

  it('asks for what the policy says at the declared replicas', () => {
    const pods = Array.from({ length: 4 }, () => ({ node: 'spot-1' }));
    expect(count(pods, policyOf('70', '2'), 10)).toEqual({
      actual: { spot: 4, onDemand: 0, unknown: 0 },
      substitutes: 0,
      desired: { spot: 7, onDemand: 3 },
    });
  });

  it('asks for nothing without a policy', () => {
    expect(count([{ node: 'spot-1' }], policyOf())).toMatchObject({ desired: undefined });
  });

  it('asks for on-demand only when the numbers cannot be read', () => {
    expect(count([{ node: 'spot-1' }], policyOf('170'))).toMatchObject({
      desired: { spot: 0, onDemand: 1 },
    });
  });
});
