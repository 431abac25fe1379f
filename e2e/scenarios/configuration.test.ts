import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KubeObject, waitFor } from '@spotalis/cluster';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import type { Workload } from '../workloads/workload.ts';

const spot = 'cloud.example/lifecycle=spot';
const onDemand = 'cloud.example/lifecycle=normal';
const policy = { spotPercentage: 50, minOnDemand: 1 };

interface Event extends KubeObject {
  readonly reason: string;
  readonly reportingController: string;
  readonly note: string;
  readonly series?: { readonly count: number };
  readonly regarding: { readonly kind: string };
}

describe('a configuration', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed({
      webhooks: 1,
      controllers: 1,
      configuration: { nodeLabels: { spot, onDemand }, rebalance: { schedule: '0 0 1 1 *', duration: '1m' } },
    });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  /** Which services have told of it, that often, with what they said. */
  async function told(reason: string, count = 1): Promise<ReadonlyMap<string, string>> {
    const { items } = await testbed.cluster.api.raw<{ items: readonly Event[] }>(
      'GET',
      '/apis/events.k8s.io/v1/events',
    );
    const those = items.filter(
      ({ reason: its, regarding, series }) =>
        its === reason && regarding.kind === 'Pod' && (series?.count ?? 1) === count,
    );
    return new Map(those.map(({ reportingController, note }) => [reportingController, note]));
  }

  function typesOf(workload: Workload, count: number): Promise<readonly string[]> {
    return waitFor(`${count} pods of ${workload.path}`, async () => {
      const types = (await workload.pods()).map(({ spec }) => spec.nodeSelector?.['cloud.example/lifecycle']);
      return types.length === count ? types.map((type) => type ?? 'none').toSorted() : undefined;
    });
  }

  it('whose labels no node carries steers no pod, which an Event tells, until a node does', async () => {
    const unsteered = await testbed.declare({ name: 'web', namespace: 'unlabelled', replicas: 4, policy });
    await unsteered.ready(4);
    expect(await typesOf(unsteered, 4)).toEqual(['none', 'none', 'none', 'none']);
    const note = await waitFor('the webhook to tell', async () =>
      (await told('NodeLabelsMissing')).get('spotalis.io/webhook'),
    );
    expect(note).toContain(onDemand);

    const [node] = await testbed.cluster.api.list('Node');
    const labels = { 'cloud.example/lifecycle': 'normal' };
    await testbed.cluster.api.patch('Node', node?.metadata?.name ?? '', { metadata: { labels } });
    const { debugPort } = testbed.installation.webhooks[0]!;
    await waitFor(
      'the node to be seen',
      async () => {
        const answer = await fetch(`http://127.0.0.1:${debugPort}/debug/state`);
        return ((await answer.json()) as { onDemandSeen: boolean }).onDemandSeen;
      },
      { timeoutMs: 20_000 },
    );
    const steered = await testbed.declare({ name: 'web', namespace: 'labelled', replicas: 4, policy });
    expect(await typesOf(steered, 4)).toEqual(['normal', 'normal', 'spot', 'spot']);
  }, 60_000);

  it('that becomes invalid is refused by both services, which an Event tells; the next is taken over', async () => {
    const file = join(testbed.cluster.stateDir, 'spotalis.yaml');
    const text = readFileSync(file, 'utf8');
    const write = (content: string): void => {
      writeFileSync(`${file}.next`, content);
      renameSync(`${file}.next`, file);
    };
    write(`${text}\nreadOnlyMode: perhaps\n`);
    const notes = await waitFor('both services to tell', async () => {
      const found = await told('InvalidConfiguration');
      return found.size === 2 ? found : undefined;
    });
    for (const service of ['webhook', 'controller'])
      expect(notes.get(`spotalis.io/${service}`)).toContain('readOnlyMode: "perhaps" is not allowed');
    write(`${text}\n\nreadOnlyMode: perhaps\n`);
    await waitFor('both to count it', async () => (await told('InvalidConfiguration', 2)).size === 2);
    const before = await testbed.declare({ name: 'web', namespace: 'kept', replicas: 2, policy });
    expect(await typesOf(before, 2)).toEqual(['normal', 'spot']);

    write(`${text}\nreadOnlyMode: true\n`);
    const webhooks = testbed.installation;
    await waitFor('the webhook to take it over', async () => {
      const labels = { result: 'applied' };
      return (await webhooks.admissionMetric('spotalis_configuration_reloads_total', labels)) === 1;
    });
    const after = await testbed.declare({ name: 'web', namespace: 'read-only', replicas: 2, policy });
    expect(await typesOf(after, 2)).toEqual(['none', 'none']);
  }, 60_000);
});
