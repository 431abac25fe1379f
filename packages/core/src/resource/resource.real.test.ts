/** @needs control-plane */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiError, type Cluster, type KubeObject, startCluster, waitFor } from '@spotalis/cluster';
import * as fc from 'fast-check';
import { toyCases } from '../testing/toy-cases.ts';
import { specsOf } from '../testing/specs.ts';
import { newerToy, toy } from '../testing/toy.ts';
import { mergeConditions } from './condition.ts';
import { crdOf } from './crd.ts';
import { apiVersion, type ResourceDefinition } from './definition.ts';
import { readSpec, readStatus } from './parse.ts';

interface Crd extends KubeObject {
  readonly metadata: { readonly name: string; readonly generation?: number };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

interface Toy extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
}

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

const path = `/apis/${apiVersion}/namespaces/default/${toy.plural}`;
const least = { bounds: { cpu: { min: '100m', max: '2' } } };
const objectOf = (spec: unknown, name = 'web') => ({
  apiVersion: apiVersion,
  kind: toy.kind,
  metadata: { name, namespace: 'default' },
  spec,
});
const isTrue = ({ status }: { readonly status: string }) => status === 'True';

describe('a custom resource on the API server', () => {
  let cluster: Cluster;

  /** As `kubectl create --dry-run=server` does: an unknown field is an error. */
  async function answerTo(spec: unknown): Promise<{ readonly spec?: unknown; readonly refusal?: string }> {
    try {
      const query = { dryRun: 'All', fieldValidation: 'Strict' };
      const stored = await cluster.api.raw<Toy>('POST', path, { query, body: objectOf(spec) });
      return { spec: stored.spec };
    } catch (error) {
      if (!(error instanceof ApiError) || ![400, 422].includes(error.status)) throw error;
      return { refusal: error.message };
    }
  }

  const createToy = (spec: unknown, name: string) =>
    cluster.api.raw<Toy>('POST', path, { body: objectOf(spec, name) });

  /** Until its schema is in force, as a spec shows that the schema before answered in another way. */
  async function serve(definition: ResourceDefinition, isInForce: () => Promise<boolean>): Promise<Crd> {
    await cluster.api.apply(crdOf(definition));
    return waitFor('the CRD to be in force', async () => {
      const name = `${definition.plural}.spotalis.io`;
      const crd = await cluster.api.get<Crd>('CustomResourceDefinition', name);
      const isEstablished = crd.status?.conditions?.some(
        (each) => each.type === 'Established' && isTrue(each),
      );
      return isEstablished && (await isInForce()) ? crd : undefined;
    });
  }

  const isServed = async () => {
    try {
      return (await answerTo(least)).spec !== undefined;
    } catch (error) {
      // The path comes a moment after the condition.
      if (error instanceof ApiError && error.status === 404) return false;
      throw error;
    }
  };
  let crd: Crd;

  beforeAll(async () => {
    cluster = await startCluster({ spotNodes: 0, onDemandNodes: 0 });
    crd = await serve(toy, isServed);
  }, 120_000);
  afterAll(() => cluster?.stop());

  it('has a structural schema', () => {
    const found = crd.status?.conditions?.filter(isTrue).map(({ type }) => type);
    expect(found?.toSorted()).toEqual(['Established', 'NamesAccepted']);
  });

  it.each(toyCases)('is of the same opinion as the parser: $name', async ({ spec, problem, server }) => {
    const answer = await answerTo(spec);
    const { value, problems } = readSpec(toy, objectOf(spec));
    if (problem === null) expect(answer).toEqual({ spec: value });
    else if (!server) expect(answer).toHaveProperty('spec');
    else {
      expect(answer.refusal).toContain(problem.field);
      // Bounds and words are in the schema, of which the API server speaks in words of its own.
      const message = problems[0]?.message ?? '';
      if (problem.code === 'Conflict') expect(answer.refusal).toContain(message.slice(message.indexOf(': ')));
    }
  });

  it('shows the value and a valid example where the form is wrong', async () => {
    const { refusal } = await answerTo({
      ...least,
      window: '2m',
      maxPods: '0%',
      zone: '?',
      maxConcurrent: 0,
    });
    for (const { message } of readSpec(toy, objectOf({ ...least, window: '2m', maxPods: '0%', zone: '?' }))
      .problems)
      expect(refusal).toContain(message.slice(message.indexOf(': ')));
    expect(refusal).toContain('spec.maxConcurrent: Invalid value: 0: "0" is not a count from 1 to 1000');
    const lines = await answerTo({ ...least, zone: 'a\nb' });
    expect(lines.refusal).toContain('is not a time zone. Example: "Europe/Berlin"');
  });

  it('is of the same opinion as the parser on any spec', async () => {
    let valid = 0;
    await fc.assert(
      fc.asyncProperty(specsOf(toy), async (spec) => {
        const answer = await answerTo(spec);
        const { value, problems } = readSpec(toy, objectOf(spec));
        const isRefused = problems.length > 0;
        expect({ spec, refused: answer.refusal !== undefined }).toEqual({ spec, refused: isRefused });
        if (isRefused) return;
        valid++;
        expect(answer.spec).toEqual(value);
      }),
      { numRuns: 400 },
    );
    // Else it would hold for a server that refuses everything.
    expect(valid).toBeGreaterThan(40);
  });

  it('has its columns, and one for conditions', async () => {
    await createToy(least, 'columns');
    const conditions = mergeConditions(
      [],
      [{ type: 'Ready', status: 'True', reason: 'AsExpected', message: 'In force.' }],
      { generation: 1, nowMs: Date.UTC(2026, 0, 1) },
    );
    const status = { nodes: 3, conditions };
    await cluster.api.patch(toy.kind, 'columns', { status }, { subresource: 'status' });
    const found = await cluster.api.get(toy.kind, 'columns');
    expect(readStatus(toy, found)).toEqual({ kind: 'valid', value: status, problems: [] });
    const table = await cluster.api.raw<Table>('GET', `${path}/columns`, {
      accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
    });
    const names = table.columnDefinitions.map(({ name }) => name);
    expect(names).toEqual(['Name', ...toy.columns.map(({ name }) => name), 'Age']);
    const cells = table.rows[0]?.cells ?? [];
    expect(cells.slice(0, -1)).toEqual(['columns', 'Observe', 100, true, '15m', 3, null, 'True']);
  });

  it('refuses a status that is no condition', async () => {
    await createToy(least, 'status');
    const status = { conditions: [{ type: 'Ready' }] };
    await expect(
      cluster.api.patch(toy.kind, 'status', { status }, { subresource: 'status' }),
    ).rejects.toThrow('status.conditions[0].lastTransitionTime: Required value');
  });

  it('is found by its short name and the category', async () => {
    const { resources } = await cluster.api.raw<{
      resources: readonly { name: string; shortNames?: string[]; categories?: string[] }[];
    }>('GET', `/apis/${apiVersion}`);
    expect(resources).toContainEqual(
      expect.objectContaining({ name: toy.plural, shortNames: ['toy'], categories: ['spotalis'] }),
    );
  });

  it('stays readable when the definition changes, and is left alone when a newer one wrote it', async () => {
    await createToy({ ...least, weight: 900 }, 'old');
    const later = { ...least, mode: 'Later' };
    await serve(newerToy, async () => (await answerTo(later)).refusal === undefined);

    const old = await cluster.api.get<Toy>(toy.kind, 'old');
    expect(old.spec).toMatchObject({ weight: 900, later: true });
    // Beyond the bound of today: reported, not lost, and still to be labelled.
    expect(readSpec(newerToy, old).problems).toMatchObject([{ code: 'Invalid', field: 'spec.weight' }]);
    await cluster.api.patch(toy.kind, 'old', { metadata: { labels: { team: 'web' } } });
    expect(readSpec(toy, old)).toMatchObject({ kind: 'newer', problems: [{ field: 'spec.later' }] });

    await createToy(later, 'new');
    const created = await cluster.api.get<Toy>(toy.kind, 'new');
    expect(readSpec(newerToy, created)).toMatchObject({
      kind: 'valid',
      value: { mode: 'Later', later: true },
    });
    expect(readSpec(toy, created)).toMatchObject({ kind: 'newer', value: null });

    // Back to the version before: what it does not know is not shown, and a word remains as it is.
    await serve(toy, async () => (await answerTo(later)).refusal !== undefined);
    const seen = await waitFor('the field to be pruned', async () => {
      const found = await cluster.api.get<Toy>(toy.kind, 'new');
      return found.spec?.['later'] === undefined ? found : undefined;
    });
    expect(readSpec(toy, seen)).toMatchObject({ kind: 'newer', problems: [{ code: 'UnknownValue' }] });
  });
});
