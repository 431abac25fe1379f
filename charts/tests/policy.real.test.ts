/** @needs control-plane helm @also kubernetes-1.30 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  chartDir,
  type Cluster,
  Helm,
  type KubeObject,
  startCluster,
  type Values,
  waitFor,
} from '@spotalis/cluster';
import {
  type Annotations,
  namespaceProblems,
  type PolicyCase,
  policyCases,
  policyKeys,
  type PolicyProblem,
  readPolicy,
} from '@spotalis/core';
import * as fc from 'fast-check';

const release = { name: 'spotalis', namespace: 'spotalis-system' };
const enabled = { 'spotalis.io/enabled': 'true' };

interface Policy extends KubeObject {
  readonly status?: {
    readonly typeChecking?: { readonly expressionWarnings?: readonly { readonly warning: string }[] };
  };
}

interface WorkloadOptions {
  readonly kind?: 'Deployment' | 'StatefulSet';
  readonly labels?: Annotations;
  readonly space?: string;
}

function workload(annotations: Annotations, options: WorkloadOptions = {}): KubeObject {
  const { kind = 'Deployment', labels = enabled, space = 'plain' } = options;
  const spec = {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'web' }] },
    },
  };
  const metadata = { name: 'web', namespace: space, labels, annotations };
  // Named, because not all of it is known to the type.
  const object = { apiVersion: 'apps/v1', kind, metadata, spec };
  return object;
}

function namespace(name: string, annotations: Annotations, labels: Annotations = enabled): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels, annotations } };
}

/** Texts of a few of these words, without anything between them. */
const words = (from: string) =>
  fc.array(fc.constantFrom(...from.split(' ')), { maxLength: 5 }).map((all) => all.join(''));

const cases = policyCases.filter(({ cel }) => cel);
const defaults = [
  ...new Set(cases.flatMap((each) => (each.namespace ? [JSON.stringify(each.namespace)] : []))),
];
const namespaceOf = ({ namespace: own }: PolicyCase) =>
  own === undefined ? 'plain' : `defaults-${defaults.indexOf(JSON.stringify(own))}`;

describe('the policy of the chart, when annotations are applied', () => {
  let cluster: Cluster;
  let helm: Helm;
  const warnings = (object: KubeObject) => cluster.api.applyWarnings(object);

  async function policyWith(values: Values): Promise<KubeObject[]> {
    const objects = await helm.template(release, chartDir(), values);
    return objects.filter(({ kind }) => kind?.startsWith('ValidatingAdmissionPolicy'));
  }

  beforeAll(async () => {
    [cluster, helm] = await Promise.all([startCluster({ spotNodes: 0, onDemandNodes: 0 }), Helm.prepare()]);
    await cluster.api.apply([
      ...defaults.map((text, index) => namespace(`defaults-${index}`, JSON.parse(text))),
      namespace('unlabelled', {}, {}),
      namespace('plain', {}),
    ]);
    await cluster.api.apply(await policyWith({}));
    await waitFor('the policy to be in force', async () => {
      return (await warnings(workload({ 'spotalis.io/paused': 'perhaps' }))).length > 0;
    });
  }, 120_000);
  afterAll(async () => {
    helm?.dispose();
    await cluster?.stop();
  });

  async function expectWarningsOf(object: KubeObject, problems: readonly PolicyProblem[]): Promise<void> {
    const texts = await warnings(object);
    expect(texts).toHaveLength(problems.length);
    const place = object.kind === 'Namespace' ? 'on the Namespace' : 'on the workload';
    for (const { code, key, value, message } of problems) {
      // The services know more about these: the nearest known key, the time zone.
      const exact = code !== 'UnknownKey' && code !== 'InvalidSchedule';
      const said = exact ? message : `${key}: "${value}" ${place} is not`;
      expect(texts).toContainEqual(expect.stringContaining(said));
    }
  }

  it.each(cases)('is of the same opinion as the services on $name', async (each) => {
    const { workload: own, namespace: above = {} } = each;
    const { problems } = readPolicy({ workload: own, namespace: above, defaults: {} });
    await expectWarningsOf(workload(own, { space: namespaceOf(each) }), problems);
    await expectWarningsOf(namespace('plain', own), namespaceProblems(own));
  });

  it('raises no false alarm, whatever is written', async () => {
    const texts = fc.oneof(
      words('0 1 2 9 10 100 10000 % -'),
      words('0 1 09 . h m ms s µs - + never true false'),
    );
    const value = fc.constantFrom('0', '1', '05', '7', '12', '23', '31', '59', 'mon', 'JAN');
    const item = fc.tuple(
      fc.oneof(
        fc.constantFrom('*', '?'),
        value,
        fc.tuple(value, value).map(([from, to]) => `${from}-${to}`),
      ),
      fc.constantFrom('', '', '/2', '/09', '/31'),
    );
    const field = fc.oneof(
      fc.constant('*'),
      fc
        .array(
          item.map(([range, step]) => range + step),
          { minLength: 1, maxLength: 2 },
        )
        .map((items) => items.join(',')),
    );
    const fields = fc.tuple(field, field, field, field, field);
    const schedules = fc
      .tuple(fc.constantFrom('', 'CRON_TZ=Europe/Berlin ', 'CRON_TZ=Etc/GMT+1 '), fields)
      .map(([zone, parts]) => zone + parts.join(' '));
    const { disruptionSchedule, ...others } = policyKeys;
    const any = fc.oneof(
      fc.record({ key: fc.constantFrom(...Object.values(others)), text: texts }),
      fc.record({ key: fc.constant(disruptionSchedule), text: schedules }),
    );
    await fc.assert(
      fc.asyncProperty(any, async ({ key, text }) => {
        const annotations = { [key]: text };
        const problems = namespaceProblems(annotations);
        const count = (await warnings(namespace('plain', annotations))).length;
        // Of a schedule the services know more.
        if (key === disruptionSchedule) expect(count).toBeLessThanOrEqual(problems.length);
        else expect(count).toBe(problems.length);
      }),
      { numRuns: 400 },
    );
  });

  it('has expressions whose types are right for every kind they see', async () => {
    const [policy] = await policyWith({});
    const status = await waitFor('the types to be checked', async () => {
      const found = await cluster.api.get<Policy>('ValidatingAdmissionPolicy', policy?.metadata?.name ?? '');
      return found.status?.typeChecking && found.status;
    });
    expect(status.typeChecking?.expressionWarnings).toBeUndefined();
  });

  it('reads StatefulSets and the defaults on a Namespace, too', async () => {
    const wrong = { 'spotalis.io/spot-percentage': 'most' };
    expect(await warnings(workload(wrong, { kind: 'StatefulSet' }))).toEqual([
      expect.stringContaining('spotalis.io/spot-percentage: "most" on the workload is not an integer'),
    ]);
    expect(await warnings(namespace('plain', wrong))).toEqual([
      expect.stringContaining('spotalis.io/spot-percentage: "most" on the Namespace is not an integer'),
    ]);
    expect(await warnings(namespace('plain', { 'example.com/a': 'b' }))).toEqual([]);
  });

  it('cuts long values, and finds words for those that cannot be shown', async () => {
    const long = await warnings(workload({ 'spotalis.io/paused': 'x'.repeat(100_000) }));
    expect(long).toContainEqual(
      expect.stringContaining(`"${'x'.repeat(60)}..." on the workload is not "true"`),
    );
    const lines = await warnings(workload({ 'spotalis.io/spot-percentage': 'a\nb' }));
    expect(lines).toEqual([expect.stringContaining('spotalis.io/spot-percentage is not an integer')]);
  });

  it('is silent about what is not managed', async () => {
    const wrong = { 'spotalis.io/spot-percentage': 'most' };
    expect(await warnings(workload(wrong, { labels: { app: 'web' } }))).toEqual([]);
    expect(await warnings(workload(wrong, { space: 'unlabelled' }))).toEqual([]);
    expect(await warnings(namespace('unlabelled', wrong, {}))).toEqual([]);
  });

  it('misses no number where the configuration has one', async () => {
    await cluster.api.apply(await policyWith({ global: { config: { defaults: { spotPercentage: 70 } } } }));
    await waitFor('the missing number to be fine', async () => {
      return (await warnings(workload({}))).length === 0;
    });
  });
});
