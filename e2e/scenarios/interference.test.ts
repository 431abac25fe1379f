import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KubeObject, waitFor } from '@spotalis/cluster';
import { type JsonPatchOperation, podKeys, typeForNext } from '@spotalis/core';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import { OtherWebhook, postReview } from './other-webhook.ts';
import {
  manifest,
  optedInNamespace,
  type Pod,
  splitOf,
  typeOf,
  type Workload,
} from '../workloads/workload.ts';

const policy = { spotPercentage: 70, minOnDemand: 2 };

const tokenOf = ({ metadata }: KubeObject): string | undefined =>
  metadata?.annotations?.[podKeys.reservation];

describe('others that take part in an admission', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    // With Never, a second webhook's change would not come back to ours.
    testbed = await openTestbed({ delayAnswersMs: 200, patient: true, reinvocationPolicy: 'IfNeeded' });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  /** Places that no pod stands on would make the next burst inexact. */
  async function expectNoGhosts(workload: Workload, replicas: number): Promise<void> {
    const revision = await workload.revision();
    const { spot, onDemand } = workload.exactly(replicas);
    await waitFor(
      'the ledger to hold the pods and nothing else',
      async () => testbed.ledger.counts(revision),
      {
        until: (counts) => counts.spot === spot && counts.onDemand === onDemand && counts.pending === 0,
      },
    );
  }

  it('a quota that rejects half leaves the rest exact once it lets them in (B4)', async () => {
    const { api } = testbed.cluster;
    const quota = (pods: string): KubeObject =>
      ({
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'half', namespace: 'quota' },
        spec: { hard: { pods } },
      }) as KubeObject;
    const inForce = (pods: string) =>
      waitFor('the quota to be in force', async () => {
        const { status } = await api.get<{ status?: { hard?: { pods?: string } } }>(
          'ResourceQuota',
          'quota/half',
        );
        return status?.hard?.pods === pods;
      });
    await api.apply([optedInNamespace('quota'), quota('50')]);
    await inForce('50');
    const workload = await testbed.declare({ name: 'web', namespace: 'quota', replicas: 100, policy });
    await workload.splitWhenCreated(50);
    await waitFor('a pod to be refused', () => testbed.creations('quota').refused > 0);
    await api.apply(quota('500'));
    await inForce('500');
    // The ReplicaSet controller tries again at any change, and else after a back-off that has grown long.
    await workload.patch({ metadata: { annotations: { 'example.com/try': 'again' } } });
    expect(await workload.splitWhenCreated(100)).toEqual(workload.exactly(100));
    await expectNoGhosts(workload, 100);
    expect(testbed.evictions('quota')).toBe(0);
  }, 120_000);

  it('a webhook that rejects some leaves the ones that come instead of them exact (B4)', async () => {
    let asked = 0;
    let rejected = 0;
    const picky = await OtherWebhook.install(
      testbed.cluster.api,
      { kind: 'Validating', name: 'picky', namespace: 'picky' },
      () => {
        const allowed = ++asked % 2 === 0 || rejected === 25;
        if (!allowed) rejected++;
        return { allowed, message: 'not this one' };
      },
    );
    const workload = await testbed.declare({ name: 'web', namespace: 'picky', replicas: 60, policy });
    expect(await workload.splitWhenCreated(60)).toEqual(workload.exactly(60));
    await picky.remove();
    expect(rejected).toBe(25);
    expect(testbed.creations('picky').refused).toBe(25);
    await expectNoGhosts(workload, 60);
    expect(testbed.evictions('picky')).toBe(0);
  }, 120_000);

  it('a webhook whose change has ours asked again gets the same answer again (B1)', async () => {
    const other = await OtherWebhook.install(
      testbed.cluster.api,
      { kind: 'Mutating', name: 'zz-labels', namespace: 'reinvoked' },
      () => ({ allowed: true, patch: [{ op: 'add', path: '/metadata/labels/touched', value: 'yes' }] }),
    );
    const before = await testbed.admissions({ reason: 'replay' });
    const workload = await testbed.declare({ name: 'web', namespace: 'reinvoked', replicas: 100, policy });
    expect(await workload.splitWhenCreated(100)).toEqual(workload.exactly(100));
    await other.remove();
    expect((await testbed.admissions({ reason: 'replay' })) - before).toBe(100);
    await expectNoGhosts(workload, 100);
    const tokens = (await workload.pods()).map(tokenOf);
    expect(new Set(tokens).size).toBe(100);
    expect(testbed.evictions('reinvoked')).toBe(0);
  }, 120_000);

  /** A pod as the ReplicaSet controller makes it. */
  async function podOf(workload: Workload, namespace: string): Promise<KubeObject> {
    const { replicaSetUid } = await workload.revision();
    const sets = await testbed.cluster.api.list<
      KubeObject & { spec: { template: { metadata: { labels: Record<string, string> }; spec: object } } }
    >('ReplicaSet', { namespace });
    const set = sets.find(({ metadata }) => metadata?.uid === replicaSetUid);
    const name = set?.metadata?.name ?? '';
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: replicaSetUid, controller: true };
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        generateName: `${name}-`,
        namespace,
        labels: set?.spec.template.metadata.labels ?? {},
        ownerReferences: [owner],
      },
      spec: set?.spec.template.spec,
    } as KubeObject;
  }

  it.each([
    { replicas: 0, name: 'of a Deployment without a pod' },
    { replicas: 10, name: 'of a Deployment that has all its pods' },
  ])('a dry run $name is answered as the next pod would be, and leaves no trace', async ({ replicas }) => {
    const namespace = `dry-${replicas}`;
    const workload = await testbed.declare({ name: 'web', namespace, replicas, policy });
    await workload.ready(replicas);
    await expectNoGhosts(workload, replicas);
    const revision = await workload.revision();
    const pod = await podOf(workload, namespace);
    const before = await testbed.ledger.entries(revision);
    const answers: Pod[] = [];
    for (let turn = 0; turn < 3; turn++) {
      answers.push(
        await testbed.cluster.api.raw<Pod>('POST', `/api/v1/namespaces/${namespace}/pods`, {
          query: { dryRun: 'All' },
          body: pod,
        }),
      );
    }
    const next = typeForNext(policy, workload.exactly(replicas));
    expect(answers.map(typeOf)).toEqual([next, next, next]);
    const places = (entries: typeof before) =>
      entries.map(({ token, type, rank }) => ({ token, type, rank }));
    expect(places(await testbed.ledger.entries(revision))).toEqual(expect.arrayContaining(places(before)));
    expect(await testbed.ledger.entries(revision)).toHaveLength(replicas);
    await workload.scale(replicas + 20);
    expect(await workload.splitWhenCreated(replicas + 20)).toEqual(workload.exactly(replicas + 20));
  });

  it('every review sent twice, to two webhooks, is answered twice alike and counts once (B1)', async () => {
    const { webhooks } = testbed.installation;
    const { webhooks: registered } = await testbed.cluster.api.get<{
      webhooks: readonly { clientConfig: { caBundle: string } }[];
    }>('MutatingWebhookConfiguration', 'spotalis');
    const ca = Buffer.from(registered[0]?.clientConfig.caBundle ?? '', 'base64').toString();
    const pairs: (readonly [readonly JsonPatchOperation[], readonly JsonPatchOperation[]])[] = [];
    // Before ours, so that ours has each pod a third time, with an answer on it.
    const doubling = await OtherWebhook.install(
      testbed.cluster.api,
      { kind: 'Mutating', name: 'aa-doubling', namespace: 'twice' },
      async (_, body) => {
        const turn = pairs.length;
        const to = (offset: number) => ({ port: webhooks[(turn + offset) % webhooks.length]?.port ?? 0, ca });
        const pair = await Promise.all([postReview(to(0), body), postReview(to(1), body)]);
        pairs.push(pair);
        return { allowed: true, patch: pair[0] };
      },
    );
    const workload = await testbed.declare({ name: 'web', namespace: 'twice', replicas: 100, policy });
    expect(await workload.splitWhenCreated(100)).toEqual(workload.exactly(100));
    await doubling.remove();
    expect(pairs).toHaveLength(100);
    for (const [one, other] of pairs) expect(other).toEqual(one);
    await expectNoGhosts(workload, 100);
    expect(testbed.evictions('twice')).toBe(0);
  }, 120_000);

  it('a template that carries the reservation of another pod gets its own (B1)', async () => {
    const victim = await testbed.declare({ name: 'victim', namespace: 'forged', replicas: 10, policy });
    const [pod] = await victim.ready(10);
    const podAnnotations = {
      [podKeys.reservation]: tokenOf(pod ?? {}) ?? '',
      [podKeys.capacityType]: 'spot',
      [podKeys.rank]: '0',
    };
    // In another Deployment, and in the next revision of the very one it was taken from.
    const thief = { name: 'thief', namespace: 'forged', replicas: 40, policy, podAnnotations };
    const workload = await testbed.declare(thief);
    expect(await workload.splitWhenCreated(40)).toEqual(workload.exactly(40));
    await testbed.cluster.api.apply(manifest({ ...thief, name: 'victim', replicas: 10 }));
    const forged = (of: Pod): boolean => tokenOf(of) === podAnnotations[podKeys.reservation];
    const rolled = await waitFor('the next revision alone', async () => {
      const pods = await victim.pods();
      const revisions = new Set(pods.map(({ metadata }) => metadata?.labels?.['pod-template-hash']));
      const first = pod?.metadata?.labels?.['pod-template-hash'] ?? '';
      return pods.length === 10 && revisions.size === 1 && !revisions.has(first) ? pods : undefined;
    });
    expect(splitOf(rolled)).toEqual(victim.exactly(10));
    const all = [...rolled, ...(await workload.pods())];
    expect(new Set(all.map(tokenOf)).size).toBe(50);
    expect(all.some(forged)).toBe(false);
    await expectNoGhosts(workload, 40);
    expect(testbed.evictions('forged')).toBe(0);
  }, 120_000);
});
