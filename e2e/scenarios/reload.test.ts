import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '@spotalis/cluster';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import { manifest, optedInNamespace, Workload } from '../workloads/workload.ts';

const REPLICAS = 4;
const WORKLOADS = 6;
const namespace = 'reload';
/** By the new defaults. */
const policy = { spotPercentage: 50, minOnDemand: 0 };

interface Shown {
  readonly workloads: Readonly<Record<string, { readonly rebalance?: { readonly reason: string } }>>;
}

describe('changed defaults', () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed({
      webhooks: 2,
      controllers: 1,
      ownControllerFile: true,
      configuration: {
        defaults: { spotPercentage: 100 },
        rebalance: { cooldown: '1s', minPodAge: '1s' },
      },
    });
  }, 120_000);

  afterAll(async () => {
    await testbed?.close();
  });

  function change(name: string): void {
    const file = join(testbed.cluster.stateDir, name);
    writeFileSync(
      `${file}.next`,
      readFileSync(file, 'utf8').replace('spotPercentage: 100', 'spotPercentage: 50'),
    );
    renameSync(`${file}.next`, file);
  }

  /** On workloads of which neither they nor their namespace set a number. */
  async function declare(name: string): Promise<Workload> {
    const declaration = { name, namespace, replicas: REPLICAS, policy };
    const { metadata, ...rest } = manifest(declaration);
    await testbed.cluster.api.apply([{ ...rest, metadata: { ...metadata, annotations: {} } }]);
    return new Workload(testbed.cluster.api, declaration);
  }

  async function reasons(): Promise<readonly (string | undefined)[]> {
    const { debugPort } = testbed.installation.controllers[0]!;
    const state = (await (await fetch(`http://127.0.0.1:${debugPort}/debug/state`)).json()) as Shown;
    return Object.values(state.workloads).map(({ rebalance }) => rebalance?.reason);
  }

  it('cost one pod while only the controllers have them, and are met as soon as the webhooks do', async () => {
    await testbed.cluster.api.apply([optedInNamespace(namespace)]);
    const names = Array.from({ length: WORKLOADS }, (_, index) => `web-${index}`);
    const workloads = await Promise.all(names.map(declare));
    for (const one of workloads) {
      await one.ready(REPLICAS);
      expect(await one.split()).toEqual({ spot: REPLICAS, onDemand: 0, unsteered: 0 });
    }

    change('controller.yaml');
    await waitFor('every workload to be held', reasons, {
      until: (found) => found.length === WORKLOADS && found.every((reason) => reason === 'DefaultsDiffer'),
      timeoutMs: 60_000,
    });
    expect(testbed.evictions(namespace)).toBe(1);

    change('spotalis.yaml');
    const moves = WORKLOADS * (REPLICAS / 2);
    await waitFor(
      'every workload to have the new split',
      async () => {
        const splits = await Promise.all(workloads.map((one) => one.split()));
        return splits.every(({ spot, onDemand }) => spot === REPLICAS / 2 && onDemand === REPLICAS / 2);
      },
      { timeoutMs: 240_000 },
    );
    // The first trial after the webhooks may be reached may still meet an old one.
    expect(testbed.evictions(namespace)).toBeLessThanOrEqual(1 + moves + 1);
  }, 400_000);
});
