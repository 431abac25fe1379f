import { describe, expect, it } from '@jest/globals';
import { apiVersion } from '../resource/definition.ts';
import { faultsOf } from '../resource/faults.ts';
import { readSpec } from '../resource/parse.ts';
import { optimizationCases, recommendationCases, seedSpec } from '../testing/optimization-cases.ts';
import { optimizationPolicy } from './optimization-policy.ts';
import { workloadRecommendation } from './workload-recommendation.ts';

const readPolicy = (spec: unknown) =>
  readSpec(optimizationPolicy, { apiVersion, kind: 'OptimizationPolicy', metadata: {}, spec });
const readRecommendation = (spec: unknown) =>
  readSpec(workloadRecommendation, { apiVersion, kind: 'WorkloadRecommendation', metadata: {}, spec });

describe('the resources of right-sizing', () => {
  it.each([optimizationPolicy, workloadRecommendation])('have no fault: $kind', (definition) => {
    expect(faultsOf(definition)).toEqual([]);
  });

  it.each(optimizationCases)('Property 15: a policy is validated: $name', ({ spec, problem }) => {
    const { problems } = readPolicy(spec);
    expect(problems.map(({ code, field }) => ({ code, field }))).toEqual(problem === null ? [] : [problem]);
  });

  it.each(recommendationCases)('a recommendation is validated: $name', ({ spec, problem }) => {
    const { problems } = readRecommendation(spec);
    expect(problems.map(({ code, field }) => ({ code, field }))).toEqual(problem === null ? [] : [problem]);
  });

  it('keeps the defaults of OptiPod', () => {
    const { mode, selector, resourceBounds } = seedSpec;
    const { value } = readPolicy({ mode, selector, resourceBounds });
    expect(value).toMatchObject(seedSpec);
    expect(value?.weight).toBe(100);
    expect(value?.updateStrategy.limitConfig).toEqual({
      oom: { bumpRatio: 1.2, minBump: '100Mi', keep: '168h' },
    });
  });
});
