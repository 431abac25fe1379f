import { describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '@spotalis/kube';
import { LedgerUnavailable } from '@spotalis/ledger';
import type { Logger } from '@spotalis/runtime';
import { aDeployment, aManagedCluster, aNamespace, aPod } from '../../testing/objects.ts';
import { Cluster } from '../../kernel/cluster/cluster.ts';
import { Ledgers } from './ledger/ledgers.ts';
import { managedIn, policiesOf } from '../../settings.ts';
import { Problems } from './report/problems.ts';
import { Reconciler } from './reconciler.ts';

const key = 'Deployment/shop/web';
const seventy = { 'spotalis.io/spot-percentage': '70' };

function reconcilerOf(cluster: Cluster, { isConfined = false } = {}) {
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
  const reconciler = new Reconciler({
    cluster,
    problems: new Problems({ record: (event) => events.push(event) }),
    logger,
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
      look: () => Promise.resolve(undefined),
      follow: () => undefined,
      forget: (subject) => lines.push(`forgotten ${subject}`),
    },
    isConfined,
    resyncPeriodMs: 30_000,
    random: () => 0,
  });
  const shown = () => [...reconciler.reported.values()].map(({ report }) => report);
  return { reconciler, shown, events, lines, ledger };
}

function withPolicy(annotations: Readonly<Record<string, string>>): Cluster {
  const cluster = aManagedCluster();
  cluster.deployments.upsert(aDeployment({ annotations }), true);
  return cluster;
}

describe('the reconciler', () => {
  it('shows counts, reservations and whether the policy can be read, and comes again', async () => {
    const cluster = withPolicy(seventy);
    cluster.pods.upsert(aPod('a', { node: 'spot-1' }), true);
    const { reconciler, shown } = reconcilerOf(cluster);
    expect(await reconciler.reconcile(key)).toEqual({ requeueAfterMs: 30_000 });
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
    const { reconciler, shown, ledger } = reconcilerOf(withPolicy(seventy));
    ledger.isDown = true;
    expect(await reconciler.reconcile(key)).toEqual({ requeueAfterMs: 5_000 });
    expect(shown()).toMatchObject([{ reserved: undefined }]);
  });

  it('writes one line when a split changes, and none when it does not', async () => {
    const cluster = withPolicy(seventy);
    const { reconciler, lines } = reconcilerOf(cluster);
    await reconciler.reconcile(key);
    await reconciler.reconcile(key);
    expect(lines).toEqual([]);
    cluster.pods.upsert(aPod('a', { node: 'spot-1' }), false);
    await reconciler.reconcile(key);
    await reconciler.reconcile(key);
    expect(lines).toEqual(['info split changed']);
  });

  it('forgets a workload that is gone or no longer ours, and does not come again', async () => {
    const cluster = withPolicy(seventy);
    const { reconciler, shown, lines } = reconcilerOf(cluster);
    await reconciler.reconcile(key);
    cluster.deployments.upsert(aDeployment({ labels: {} }), false);
    expect(await reconciler.reconcile(key)).toBeUndefined();
    expect(shown().at(-1)).toBeUndefined();
    expect(lines).toEqual(['reach of web-uid forgotten', `forgotten ${key}`]);
    expect(reconciler.reported.size).toBe(0);
  });

  it('says each problem once, and again when it was put right and comes back', async () => {
    const cluster = withPolicy({ 'spotalis.io/spot-percentage': '170' });
    const { reconciler, events, shown } = reconcilerOf(cluster);
    await reconciler.reconcile(key);
    await reconciler.reconcile(key);
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
    await reconciler.reconcile(key);
    cluster.deployments.upsert(aDeployment({ annotations: { 'spotalis.io/spot-percentage': '170' } }), false);
    await reconciler.reconcile(key);
    expect(events).toHaveLength(2);
  });

  it.each([
    ['NoPolicy', {}],
    ['UnknownKey', { ...seventy, 'spotalis.io/spot-percent': '60' }],
    ['InvalidPolicy', { ...seventy, 'spotalis.io/disruption-schedule': '0 22 * * *' }],
  ])('calls it %s', async (reason, annotations) => {
    const { reconciler, events } = reconcilerOf(withPolicy(annotations));
    await reconciler.reconcile(key);
    expect(events).toMatchObject([{ reason }]);
  });

  it('says what is wrong on a Namespace there, and not on each of its workloads', async () => {
    const cluster = withPolicy({ 'spotalis.io/min-on-demand': '1' });
    const opted = { 'spotalis.io/enabled': 'true' };
    cluster.namespaces.upsert(aNamespace(opted, { 'spotalis.io/spot-percentage': 'lots' }), true);
    const { reconciler, events } = reconcilerOf(cluster);
    await reconciler.reconcile(key);
    expect(events).toEqual([]);
    await reconciler.reconcile('Namespace/shop');
    await reconciler.reconcile('Namespace/shop');
    expect(events).toMatchObject([
      { reason: 'InvalidPolicy', regarding: { apiVersion: 'v1', kind: 'Namespace', name: 'shop' } },
    ]);
    expect(events[0]?.regarding.namespace).toBeUndefined();
  });

  it('says it within the Namespace where it may write nowhere else', async () => {
    const cluster = aManagedCluster();
    const opted = { 'spotalis.io/enabled': 'true' };
    cluster.namespaces.upsert(aNamespace(opted, { 'spotalis.io/spot-percentage': 'lots' }), true);
    const { reconciler, events } = reconcilerOf(cluster, { isConfined: true });
    await reconciler.reconcile('Namespace/shop');
    expect(events).toMatchObject([{ regarding: { kind: 'Namespace', name: 'shop', namespace: 'shop' } }]);
  });

  it('says nothing about a Namespace that the scope leaves to others', async () => {
    const cluster = new Cluster(
      managedIn({ namespaces: [], namespaceSelector: {}, excludedNamespaces: ['shop'] }),
      (error) => {
        throw error;
      },
    );
    const opted = { 'spotalis.io/enabled': 'true' };
    cluster.namespaces.upsert(aNamespace(opted, { 'spotalis.io/spot-percentage': 'lots' }), true);
    const { reconciler, events } = reconcilerOf(cluster);
    await reconciler.reconcile('Namespace/shop');
    expect(events).toEqual([]);
  });

  it('says nothing about a Namespace that has not opted in', async () => {
    const cluster = aManagedCluster();
    cluster.namespaces.upsert(aNamespace({}, { 'spotalis.io/spot-percentage': 'lots' }), true);
    const { reconciler, events } = reconcilerOf(cluster);
    await reconciler.reconcile('Namespace/shop');
    expect(events).toEqual([]);
  });
});
