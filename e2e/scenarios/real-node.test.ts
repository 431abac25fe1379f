/** @needs control-plane helm real-node */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type AuditEvent,
  type Cluster,
  type KubeObject,
  startCluster,
  waitFor,
  whyNoRealNode,
} from '@spotalis/cluster';
import { PodCreations } from '../workloads/creations.ts';
import { manifest, optedInNamespace, Workload } from '../workloads/workload.ts';
import { type ContainerPod, type ContainerRelease, prepareRelease } from './containers/release.ts';
import { Neighbour } from './containers/neighbour.ts';
import { Stream } from './containers/stream.ts';
import { spotalisIn } from './kubectl.ts';
import { reached } from './reached.ts';

const policy = { spotPercentage: 70, minOnDemand: 2 };
const certificate = 'spotalis-system/spotalis-webhook-certificate';

const missing = await whyNoRealNode();
if (missing !== undefined) process.stderr.write(`no real containers on this machine: ${missing}\n`);

(missing === undefined ? describe : describe.skip)('in real containers, through the real Service', () => {
  let cluster: Cluster;
  let release: ContainerRelease;
  let initially: readonly string[];
  let installedAtMs: number;

  beforeAll(async () => {
    cluster = await startCluster({
      realNode: true,
      podsPerNode: 2_000,
      audit: true,
    });
    release = await prepareRelease(cluster);
    initially = await ours(cluster);
    installedAtMs = performance.now();
    await release.install();
    process.stderr.write(`everything is Ready ${since(installedAtMs)} s after the installation\n`);
    await reached(cluster, 'first');
  }, 900_000);

  afterAll(async () => {
    await cluster?.stop();
  });

  /** Runs the work under a stream of creations, of which none may fail or be off target. */
  async function undisturbed(namespace: string, work: (stream: Stream) => Promise<unknown>): Promise<void> {
    const stream = await Stream.start(cluster, namespace, policy);
    await work(stream);
    const { pods } = await stream.end();
    const { refused, bypassed } = stream.creations;
    process.stderr.write(`${namespace}: ${pods} pods\n`);
    expect({ refused, bypassed, offTarget: stream.offTarget }).toEqual({
      refused: 0,
      bypassed: 0,
      offTarget: 0,
    });
    expect(pods).toBeGreaterThan(20);
  }

  it('20 pods at 70 % with 2 on-demand are split exactly, onto fake nodes', async () => {
    const stream = await Stream.start(cluster, 'twenty', policy, 20);
    expect(await stream.end()).toMatchObject({ pods: 20 });
    process.stderr.write(`and 20 pods are split exactly after ${since(installedAtMs)} s\n`);
    expect(stream.creations).toMatchObject({ refused: 0, bypassed: 0 });
    expect(stream.offTarget).toBe(0);
  }, 60_000);

  it('is in order, as the doctor sees it', async () => {
    const { stdout, stderr } = await spotalisIn(cluster.kubeconfig, 'doctor', '-o', 'json');
    expect(stderr).toBe('');
    // The machine on which all this runs is indeed neither spot nor on-demand.
    const found = { id: 'nodes-untyped', severity: 'info', what: expect.stringContaining('real-1') };
    expect(JSON.parse(stdout)).toMatchObject({ findings: [expect.objectContaining(found)], notes: [] });
  }, 60_000);

  it('every image is small, and every container runs in little memory', async () => {
    for (const { image, megabytes } of release.images) {
      process.stderr.write(`${image}: ${megabytes} MB, compressed\n`);
      expect(megabytes).toBeLessThan(80);
    }
    for (const component of ['webhook', 'controller', 'redis'] as const) {
      for (const pod of await release.pods(component)) {
        const { containerID } = containerOf(pod);
        const megabytes = cluster.realNode.residentMegabytes(pod.metadata.uid, containerID);
        process.stderr.write(
          `${component}: ${megabytes} MB, Ready ${secondsToReady(pod)} s after its start\n`,
        );
        expect(megabytes).toBeLessThan(200);
      }
    }
  });

  it('webhooks scaled from 1 to 5 and to 2 lose no admission', async () => {
    await undisturbed('scaled', async () => {
      await release.upgrade({ webhook: { replicas: 1 } });
      await release.upgrade({ webhook: { replicas: 5 } });
      await release.upgrade({ webhook: { replicas: 2 } });
    });
  }, 180_000);

  it('an upgrade to another image, and the way back, lose no admission', async () => {
    const image = { tag: 'next' };
    await release.publish(image.tag);
    await undisturbed('upgraded', async () => {
      await release.upgrade({ webhook: { image }, controller: { image } });
      for (const pod of await release.pods('webhook'))
        expect(pod.spec.containers[0]?.image).toMatch(/:next$/);
      await release.rollback();
      for (const pod of await release.pods('webhook'))
        expect(pod.spec.containers[0]?.image).not.toMatch(/:next$/);
    });
  }, 240_000);

  it('a new certificate loses no admission', async () => {
    interface Secret extends KubeObject {
      readonly data?: Readonly<Record<string, string>>;
    }
    const served = async () => (await cluster.api.get<Secret>('Secret', certificate)).data?.['tls.crt'];
    await undisturbed('renewed', async () => {
      const before = await served();
      await cluster.api.patch('Secret', certificate, { data: null });
      await waitFor('another certificate', served, {
        timeoutMs: 90_000,
        until: (now) => now !== undefined && now !== before,
      });
    });
  }, 120_000);

  it('a webhook that is killed costs the admissions it had, and nothing later (B9)', async () => {
    const [victim] = await release.pods('webhook');
    if (victim === undefined) throw new Error('no webhook');
    const before = restarts(victim);
    const stream = await Stream.start(cluster, 'killed', policy);
    await stream.grown(10);
    cluster.realNode.kill(victim.metadata.uid, containerOf(victim).containerID, 'SIGKILL');
    await waitFor(
      'its container to be Ready again',
      async () =>
        (await release.pods('webhook')).find(({ metadata }) => metadata.uid === victim.metadata.uid),
      { until: (now) => now !== undefined && restarts(now) > before && containerOf(now).ready },
    );
    await stream.end();
    const { bypassed, refused } = stream.creations;
    process.stderr.write(`killed: ${bypassed} admissions lost\n`);
    expect(refused).toBe(0);
    expect(stream.offTarget).toBeLessThanOrEqual(bypassed);
    await stream.repaired();
    await undisturbed('after', (next) => next.grown(30));
  }, 120_000);

  it('another installation, of its charts one by one, keeps to its namespaces as this one does', async () => {
    const team = { key: 'team', values: ['other'] };
    const scope = { namespaceSelector: { matchExpressions: [{ ...team, operator: 'NotIn' }] } };
    await release.upgrade({ global: { config: { scope } } });
    const other = await Neighbour.install(cluster, { matchLabels: { team: 'other' } });
    await reached(cluster, 'theirs-first', { team: 'other' });
    const installations = [
      { namespace: 'ours', labels: {}, configuration: 'spotalis.spotalis-system' },
      { namespace: 'theirs', labels: { team: 'other' }, configuration: other.configuration },
    ];
    for (const { namespace, labels, configuration } of installations) {
      const { metadata, ...space } = optedInNamespace(namespace);
      const declaration = { name: 'web', namespace, replicas: 10, policy };
      const labelled = { ...space, metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } } };
      await cluster.api.apply([labelled, manifest(declaration)]);
      const workload = new Workload(cluster.api, declaration);
      expect(await workload.splitWhenCreated(10)).toMatchObject(workload.exactly(10));
      expect(PodCreations.of(cluster.auditLog, namespace).asked).toEqual([configuration]);
    }
    const theirs = new Workload(cluster.api, { name: 'web', namespace: 'theirs', replicas: 10, policy });
    await theirs.patch({ metadata: { annotations: { 'spotalis.io/spot-percentage': '60' } } });
    const moved = ({ objectRef }: AuditEvent) =>
      objectRef?.subresource === 'eviction' && objectRef.namespace === 'theirs';
    const eviction = await cluster.auditLog.wait('a move', moved, { timeoutMs: 60_000, intervalMs: 500 });
    expect(eviction.user.username).toBe('system:serviceaccount:other-system:other-spotalis-controller');
    await other.uninstall();
  }, 300_000);

  it('is uninstalled without a trace, and pods stay as they are', async () => {
    const pods = async () =>
      (await cluster.api.list('Pod', { namespace: 'twenty' })).map(({ metadata }) => metadata?.uid);
    const running = await pods();
    await release.uninstall();
    await waitFor('nothing of ours to be left', () => ours(cluster), {
      timeoutMs: 60_000,
      until: (left) => left.every((name) => initially.includes(name)),
    });
    expect(running).toHaveLength(20);
    expect(await pods()).toEqual(running);
  }, 90_000);
});

/** Every object of any kind that is named after the product. Events are history, and expire. */
async function ours(cluster: Cluster): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of await listable(cluster)) {
    const { kind, items } = await cluster.api.raw<{
      kind: string;
      items: readonly { metadata: { name: string } }[];
    }>('GET', path, {});
    for (const { metadata } of items) {
      if (metadata.name.includes('spotalis')) found.push(`${kind.replace(/List$/, '')} ${metadata.name}`);
    }
  }
  return found.toSorted();
}

/** The paths of all kinds of objects that can be listed, by the API's own word. */
async function listable({ api }: Cluster): Promise<string[]> {
  const get = <T>(path: string) => api.raw<T>('GET', path, {});
  const { groups } = await get<{ groups: { preferredVersion: { groupVersion: string } }[] }>('/apis');
  const roots = [
    '/api/v1',
    ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`),
  ];
  const paths: string[] = [];
  for (const root of roots) {
    const { resources } = await get<{ resources: { name: string; verbs: string[] }[] }>(root);
    for (const { name, verbs } of resources)
      if (verbs.includes('list') && name !== 'events') paths.push(`${root}/${name}`);
  }
  return paths;
}

const since = (start: number) => ((performance.now() - start) / 1000).toFixed(1);

function containerOf({ status, metadata }: ContainerPod) {
  const [container] = status.containerStatuses ?? [];
  if (container === undefined) throw new Error(`${metadata.name} has no container yet`);
  return container;
}

const restarts = (pod: ContainerPod) => containerOf(pod).restartCount;

function secondsToReady(pod: ContainerPod): number {
  const ready = pod.status.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '';
  return (Date.parse(ready) - Date.parse(containerOf(pod).state.running?.startedAt ?? '')) / 1000;
}
