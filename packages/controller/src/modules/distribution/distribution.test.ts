import { describe, expect, it } from '@jest/globals';
import { managedIn } from '@spotalis/core';
import type { RecordedEvent } from '@spotalis/kube';
import { LedgerUnavailable } from '@spotalis/ledger';
import type { Logger } from '@spotalis/runtime';
import { aDeployment, aManagedCluster, aNamespace, aPod } from '../../testing/objects.ts';
import { Cluster } from '../../kernel/cluster/cluster.ts';
import { Ledgers } from './ledger/ledgers.ts';
import { policiesOf } from './settings.ts';
import { Problems } from './report/problems.ts';
import { Reports } from './report/reports.ts';
import type { RebalanceDecision } from './moves/decision.ts';
import { Distribution } from './distribution.ts';
import { aRunner } from '../../testing/runner.ts';

const key = 'Deployment/shop/web';
const seventy = { 'spotalis.io/spot-percentage': '70' };

function distributionOf(cluster: Cluster, { isConfined = false } = {}) {
  const events: RecordedEvent[] = [];
  const lines: string[] = [];
  const ledger = { isDown: false };
  const logger: Logger = {
    error: (message) => lines.push(`error ${message}`),
    warn: (message) => lines.push(`warn ${message}`),
    info: (message) => lines.push(`info ${message}`),
    debug: () => undefined,
    child: () => logger,
  };
  const reports = new Reports({
    cluster,
    problems: new Problems({ record: (event) => events.push(event) }),
    isConfined,
    logger,
  });
  const nothing: RebalanceDecision = { trace: {} as never, effects: [], intents: [], againAtMs: null };
  const distribution = new Distribution({
    cluster,
    attention: { follow: () => () => undefined },
    reports,
    policyOf: policiesOf(cluster, () => ({ defaults: {}, fallback: { after: 120_000 } }) as never),
    ledgers: new Ledgers({
      cluster,
      ledger: {
        breaker: () => Promise.resolve({ state: 'closed', version: 0 }),
        counts: () =>
          ledger.isDown
            ? Promise.reject(new LedgerUnavailable('LEDGER_TIMEOUT', 'late'))
            : Promise.resolve({ spot: 2, onDemand: 1, untyped: 0, pending: 0 }),
      },
      verify: () => Promise.resolve(),
    }),
    reaches: {
      tell: () => Promise.resolve(),
      forget: (uid) => lines.push(`reach of ${uid} forgotten`),
    },
    rebalancer: {
      observe: () => undefined,
      snapshot: () => ({}) as never,
      decide: () => nothing,
      apply: () => Promise.resolve({}),
      confirmed: () => ({ room: null, hasPdb: false, hooks: {} }),
      removed: () => undefined,
      settled: (_reading, decision) => ({ decision }),
      report: () => undefined,
      follow: () => undefined,
      forget: (subject) => lines.push(`forgotten ${subject}`),
    },
    narrator: { drifting: () => [], shown: () => undefined },
    probe: { ask: () => Promise.resolve({ kind: 'serving' }) },
    isReadOnly: () => false,
    duties: [],
    queue: { name: 'workload', workers: 1 },
    components: [],
    notes: {},
    known: () => ({}),
    resyncPeriodMs: 30_000,
    random: () => 0,
  });
  const executor = { evict: never, remove: never, withdraw: () => undefined };
  const runner = aRunner(distribution, { executor });
  const shown = () => [...reports.reported.values()].map(({ report }) => report);
  return { look: (subject: string) => runner.look(subject), reports, shown, events, lines, ledger };
}

const never = (): Promise<never> => Promise.reject(new Error('nothing is asked for'));

function withPolicy(annotations: Readonly<Record<string, string>>): Cluster {
  const cluster = aManagedCluster();
  cluster.deployments.upsert(aDeployment({ annotations }), true);
  return cluster;
}

describe('distribution', () => {
  it('shows counts, reservations and whether the policy can be read, and comes again', async () => {
    const cluster = withPolicy(seventy);
    cluster.pods.upsert(aPod('a', { node: 'spot-1' }), true);
    const { look, shown } = distributionOf(cluster);
    expect(await look(key)).toEqual({ requeueAfterMs: 30_000 });
    expect(shown()).toEqual([
      {
        count: {
          actual: { spot: 1, onDemand: 0, unknown: 0 },
          substitutes: 0,
          desired: { spot: 3, onDemand: 0 },
        },
        reserved: { spot: 2, onDemand: 1 },
        isInvalid: false,
      },
    ]);
  });

  it('shows no reservations while the ledger is out of reach, and comes again sooner', async () => {
    const { look, shown, ledger } = distributionOf(withPolicy(seventy));
    ledger.isDown = true;
    expect(await look(key)).toEqual({ requeueAfterMs: 5_000 });
    expect(shown()).toMatchObject([{ reserved: undefined }]);
  });

  it('writes one line when a split changes, and none when it does not', async () => {
    const cluster = withPolicy(seventy);
    const { look, lines } = distributionOf(cluster);
    await look(key);
    await look(key);
    expect(lines).toEqual([]);
    cluster.pods.upsert(aPod('a', { node: 'spot-1' }), false);
    await look(key);
    await look(key);
    expect(lines).toEqual(['info split changed']);
  });

  it('forgets a workload that is gone or no longer ours, and does not come again', async () => {
    const cluster = withPolicy(seventy);
    const { look, reports, shown, lines } = distributionOf(cluster);
    await look(key);
    cluster.deployments.upsert(aDeployment({ labels: {} }), false);
    expect(await look(key)).toBeUndefined();
    expect(shown().at(-1)).toBeUndefined();
    expect(lines).toEqual(['reach of web-uid forgotten', `forgotten ${key}`]);
    expect(reports.reported.size).toBe(0);
  });

  it('says each problem once, and again when it was put right and comes back', async () => {
    const cluster = withPolicy({ 'spotalis.io/spot-percentage': '170' });
    const { look, events, shown } = distributionOf(cluster);
    await look(key);
    await look(key);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      type: 'Warning',
      reason: 'InvalidPolicy',
      regarding: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        namespace: 'shop',
        name: 'web',
        uid: 'web-uid',
      },
      note: expect.stringContaining('"170"'),
    });
    expect(shown().at(-1)).toMatchObject({ isInvalid: true });
    cluster.deployments.upsert(aDeployment({ annotations: seventy }), false);
    await look(key);
    cluster.deployments.upsert(aDeployment({ annotations: { 'spotalis.io/spot-percentage': '170' } }), false);
    await look(key);
    expect(events).toHaveLength(2);
  });

  it.each([
    ['NoPolicy', {}],
    ['UnknownKey', { ...seventy, 'spotalis.io/spot-percent': '60' }],
    ['InvalidPolicy', { ...seventy, 'spotalis.io/disruption-schedule': '0 22 * * *' }],
  ])('calls it %s', async (reason, annotations) => {
    const { look, events } = distributionOf(withPolicy(annotations));
    await look(key);
    expect(events).toMatchObject([{ reason }]);
  });

  it('says what is wrong on a Namespace there, and not on each of its workloads', async () => {
    const cluster = withPolicy({ 'spotalis.io/min-on-demand': '1' });
    const opted = { 'spotalis.io/enabled': 'true' };
    cluster.namespaces.upsert(aNamespace(opted, { 'spotalis.io/spot-percentage': 'lots' }), true);
    const { look, events } = distributionOf(cluster);
    await look(key);
    expect(events).toEqual([]);
    await look('Namespace/shop');
    await look('Namespace/shop');
    expect(events).toMatchObject([
      { reason: 'InvalidPolicy', regarding: { apiVersion: 'v1', kind: 'Namespace', name: 'shop' } },
    ]);
    expect(events[0]?.regarding.namespace).toBeUndefined();
  });

  it('says it within the Namespace where it may write nowhere else', async () => {
    const cluster = aManagedCluster();
    const opted = { 'spotalis.io/enabled': 'true' };
    cluster.namespaces.upsert(aNamespace(opted, { 'spotalis.io/spot-percentage': 'lots' }), true);
    const { look, events } = distributionOf(cluster, { isConfined: true });
    await look('Namespace/shop');
    expect(events).toMatchObject([{ regarding: { kind: 'Namespace', name: 'shop', namespace: 'shop' } }]);
  });

  it('says nothing about a Namespace that the scope leaves to others', async () => {
    const scope = { namespaces: [], namespaceSelector: {}, excludedNamespaces: ['shop'] };
    const cluster = new Cluster(
      (namespace, workload) => managedIn(namespace, workload, scope).managed,
      (error) => {
        throw error;
      },
    );
    const opted = { 'spotalis.io/enabled': 'true' };
    cluster.namespaces.upsert(aNamespace(opted, { 'spotalis.io/spot-percentage': 'lots' }), true);
    const { look, events } = distributionOf(cluster);
    await look('Namespace/shop');
    expect(events).toEqual([]);
  });

  it('says nothing about a Namespace that has not opted in', async () => {
    const cluster = aManagedCluster();
    cluster.namespaces.upsert(aNamespace({}, { 'spotalis.io/spot-percentage': 'lots' }), true);
    const { look, events } = distributionOf(cluster);
    await look('Namespace/shop');
    expect(events).toEqual([]);
  });
});
