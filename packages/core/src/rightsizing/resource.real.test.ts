/** @needs control-plane */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiError, type Cluster, type KubeObject, startCluster, waitFor } from '@spotalis/cluster';
import * as fc from 'fast-check';
import type { ResourceCase } from '../resource/cases.ts';
import { crdOf } from '../resource/crd.ts';
import { apiVersion, type ResourceDefinition } from '../resource/definition.ts';
import { exampleObject } from '../resource/faults.ts';
import { readSpec } from '../resource/parse.ts';
import { exampleOf } from '../resource/wording.ts';
import { optimizationCases, recommendationCases } from '../testing/optimization-cases.ts';
import { specsOf } from '../testing/specs.ts';
import { optimizationPolicy } from './optimization-policy.ts';
import { workloadRecommendation } from './workload-recommendation.ts';

interface Stored extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

const known: readonly (readonly [string, ResourceDefinition, readonly ResourceCase[]])[] = [
  [optimizationPolicy.kind, optimizationPolicy, optimizationCases],
  [workloadRecommendation.kind, workloadRecommendation, recommendationCases],
];

describe('the resources of right-sizing on the API server', () => {
  let cluster: Cluster;

  const objectOf = ({ kind }: ResourceDefinition, spec: unknown) => ({
    apiVersion,
    kind,
    metadata: { name: 'web', namespace: 'default' },
    spec,
  });
  const pathOf = ({ plural }: ResourceDefinition) => `/apis/${apiVersion}/namespaces/default/${plural}`;

  /** Null where it is refused. */
  async function stored(definition: ResourceDefinition, spec: unknown): Promise<{ spec: unknown } | null> {
    try {
      const query = { dryRun: 'All', fieldValidation: 'Strict' };
      const body = objectOf(definition, spec);
      const object = await cluster.api.raw<Stored>('POST', pathOf(definition), { query, body });
      return { spec: object.spec };
    } catch (error) {
      if (!(error instanceof ApiError) || ![400, 422].includes(error.status)) throw error;
      return null;
    }
  }

  beforeAll(async () => {
    cluster = await startCluster({ spotNodes: 0, onDemandNodes: 0 });
    for (const [, definition] of known) {
      await cluster.api.apply(crdOf(definition));
      const { spec } = exampleObject(definition);
      await waitFor('the CRD to be served', async () => {
        try {
          return (await stored(definition, spec)) ?? undefined;
        } catch (error) {
          if (error instanceof ApiError && error.status === 404) return undefined;
          throw error;
        }
      });
    }
  }, 120_000);
  afterAll(() => cluster?.stop());

  const cases = known.flatMap(([kind, definition, each]) =>
    each.map((one) => ({ ...one, definition, title: `${kind}: ${one.name}` })),
  );

  it.each(cases)(
    'are read as the parser reads them: $title',
    async ({ definition, spec, problem, server }) => {
      const answer = await stored(definition, spec);
      if (problem === null)
        expect(answer).toEqual({ spec: readSpec(definition, objectOf(definition, spec)).value });
      else expect(answer === null).toBe(server);
    },
  );

  it.each(known)('are read as the parser reads any spec: %s', async (_, definition) => {
    let valid = 0;
    await fc.assert(
      fc.asyncProperty(specsOf(definition), async (spec) => {
        const answer = await stored(definition, spec);
        const { value, problems } = readSpec(definition, objectOf(definition, spec));
        const isRefused = answer === null;
        // The API server does not read cron: of what it takes, the parser may refuse a schedule.
        const seen = isRefused ? problems : problems.filter(({ field }) => !field.endsWith('.schedule'));
        expect({ spec, isRefused }).toEqual({ spec, isRefused: seen.length > 0 });
        if (isRefused || problems.length > 0) return;
        valid++;
        expect(answer.spec).toEqual(value);
      }),
      { numRuns: 300 },
    );
    // Else it would hold for a server that refuses everything.
    expect(valid).toBeGreaterThan(10);
  });

  it.each(known)('take a status with every field set: %s', async (_, definition) => {
    await cluster.api.raw<Stored>('POST', pathOf(definition), { body: exampleObject(definition) });
    const status = exampleOf(definition.status);
    const written = await cluster.api.patch<Stored>(
      definition.kind,
      'example',
      { status },
      { subresource: 'status' },
    );
    expect(written.status).toEqual(status);
  });
});
