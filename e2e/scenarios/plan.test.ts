import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { READY_AFTER_ANNOTATION, waitFor } from '@spotalis/cluster';
import { enabledLabel, policyKeys } from '@spotalis/core';
import { eventsOn, verdictOn } from '../testbed/moves.ts';
import { pdb } from '../testbed/repair.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import { type Declaration, manifest, optedInNamespace, splitOf, Workload } from '../workloads/workload.ts';
import { Floors } from './floors.ts';
import { spotalis } from './kubectl.ts';

/** As fast as workloads may be moved, so that a scenario lasts seconds. */
const rebalance = {
  cooldown: '1s',
  minPodAge: '1s',
  maxMovesPerMinute: 1_000,
  maxInFlight: { namespace: 20, node: 20 },
};

interface Plan {
  readonly outcome: 'reached' | 'stopped';
  readonly after: { readonly spot: number; readonly onDemand: number };
  readonly underWayUntilMs: number | null;
  readonly endsAtMs: number;
  readonly moves: readonly { readonly pod: string; readonly from: string; readonly to: string }[];
  readonly scaling: readonly { readonly kind: string; readonly pod: string }[];
  readonly last: { readonly reason: string };
}

const ten = (namespace: string, spotPercentage: number, minOnDemand = 1): Declaration => ({
  name: 'web',
  namespace,
  replicas: 10,
  policy: { spotPercentage, minOnDemand },
});

const annotate = (key: keyof typeof policyKeys, value: string) => ({
  metadata: { annotations: { [policyKeys[key]]: value } },
});

async function planned(
  testbed: Testbed,
  namespace: string,
  ...flags: string[]
): Promise<{ code: number; plan: Plan }> {
  const { code, stdout, stderr } = await spotalis(
    testbed,
    'plan',
    'deployment/web',
    '-n',
    namespace,
    '-o',
    'json',
    ...flags,
  );
  if (stdout === '') throw new Error(stderr);
  return { code, plan: JSON.parse(stdout).plan };
}

/** The pods that were evicted in a namespace, in the order of the evictions. */
const victims = (testbed: Testbed, namespace: string): readonly string[] =>
  testbed.cluster.auditLog
    .read(
      ({ objectRef, responseStatus, verb }) =>
        verb === 'create' &&
        objectRef?.subresource === 'eviction' &&
        objectRef.namespace === namespace &&
        responseStatus?.code === 201,
    )
    .map(({ objectRef }) => objectRef?.name ?? '');

async function settled(workload: Workload, { spot, onDemand }: Plan['after']): Promise<void> {
  await waitFor(
    `${workload.path} to be ${spot} and ${onDemand}`,
    async () => {
      const split = splitOf(await workload.ready(spot + onDemand));
      return split.spot === spot && split.onDemand === onDemand;
    },
    { timeoutMs: 120_000, intervalMs: 300 },
  );
}

const scenarios: readonly { readonly name: string; play(testbed: Testbed): Promise<void> }[] = [
  {
    name: 'a higher percentage',
    async play(testbed) {
      const workload = await testbed.declare(ten('raise', 60));
      await workload.ready(10);
      const { code, plan } = await planned(testbed, 'raise', '--spot-percentage', '80');
      expect(code).toBe(0);
      expect(plan).toMatchObject({ outcome: 'reached', after: { spot: 8, onDemand: 2 } });
      expect(plan.moves).toHaveLength(2);
      await workload.patch(annotate('spotPercentage', '80'));
      await settled(workload, plan.after);
      expect(victims(testbed, 'raise')).toEqual(plan.moves.map(({ pod }) => pod));
    },
  },
  {
    name: 'a higher floor',
    async play(testbed) {
      const workload = await testbed.declare(ten('floor', 100));
      await workload.ready(10);
      const { plan } = await planned(testbed, 'floor', '--min-on-demand', '4');
      expect(plan).toMatchObject({ outcome: 'reached', after: { spot: 6, onDemand: 4 } });
      expect(plan.moves).toHaveLength(3);
      await workload.patch(annotate('minOnDemand', '4'));
      await settled(workload, plan.after);
      expect(victims(testbed, 'floor')).toEqual(plan.moves.map(({ pod }) => pod));
    },
  },
  {
    name: 'pods from before, enabled with the preview that was shown',
    async play(testbed) {
      const namespace = 'adopt';
      const { spec, ...rest } = manifest(ten(namespace, 70));
      const template = {
        metadata: { labels: { app: 'web' } },
        spec: {
          terminationGracePeriodSeconds: 0,
          nodeSelector: { 'karpenter.sh/capacity-type': 'spot' },
          containers: [{ name: 'app', image: 'registry.k8s.io/pause:3.10' }],
        },
      };
      const before = {
        ...rest,
        metadata: { name: 'web', namespace },
        spec: { ...(spec as object), template },
      };
      const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
      await testbed.cluster.api.apply([own, before]);
      const workload = new Workload(testbed.cluster.api, ten(namespace, 70));
      await workload.ready(10);
      const flags = ['deployment/web', '-n', namespace, '--spot-percentage', '70', '--min-on-demand', '1'];
      const preview = await spotalis(testbed, 'enable', ...flags);
      expect(preview).toMatchObject({ code: 3, stdout: expect.stringContaining('3 moves') });
      expect(preview.stderr).toContain('Nothing was changed');
      expect(
        (await testbed.cluster.api.get('Namespace', namespace)).metadata?.labels?.[enabledLabel],
      ).toBeUndefined();
      const { plan } = await planned(testbed, namespace, '--spot-percentage', '70', '--min-on-demand', '1');
      expect(await spotalis(testbed, 'enable', ...flags, '--dry-run')).toMatchObject({ code: 0 });
      expect(await spotalis(testbed, 'enable', ...flags, '--yes')).toMatchObject({ code: 0 });
      await waitFor('three moves', () => victims(testbed, namespace).length >= 3, { timeoutMs: 120_000 });
      await verdictOn(testbed, workload, 'Balanced');
      // Pods that admission never saw are of one age and cost: which of them goes first is open.
      expect(victims(testbed, namespace)).toHaveLength(plan.moves.length);
      expect(await spotalis(testbed, 'disable', 'deployment/web', '-n', namespace, '--yes')).toMatchObject({
        code: 0,
      });
      const { stdout } = await spotalis(testbed, 'explain', 'deployment/web', '-n', namespace);
      expect(stdout).toContain('Not managed: it does not carry the label');
    },
  },
  {
    name: 'fewer replicas',
    async play(testbed) {
      const workload = await testbed.declare(ten('fewer', 70));
      const before = await workload.ready(10);
      const { plan } = await planned(testbed, 'fewer', '--replicas', '4');
      expect(plan.moves).toEqual([]);
      await workload.scale(4);
      const after = new Set((await workload.ready(4)).map(({ metadata }) => metadata?.name));
      const gone = before.map(({ metadata }) => metadata?.name ?? '').filter((name) => !after.has(name));
      expect(plan.scaling.map(({ pod }) => pod).toSorted()).toEqual(gone.toSorted());
      await settled(workload, plan.after);
      expect(victims(testbed, 'fewer')).toEqual([]);
    },
  },
  {
    name: 'a PodDisruptionBudget in the way',
    async play(testbed) {
      const workload = await testbed.declare(ten('held', 60));
      await workload.ready(10);
      await testbed.cluster.api.apply(pdb('held', 'all', 10));
      const { plan, code } = await waitFor('the budget to be counted', async () => {
        const found = await planned(testbed, 'held', '--spot-percentage', '80');
        return found.plan.last.reason === 'PdbBlocks' ? found : undefined;
      });
      expect(code).toBe(3);
      expect(plan).toMatchObject({ outcome: 'stopped', moves: [], after: { spot: 6, onDemand: 4 } });
      await workload.patch(annotate('spotPercentage', '80'));
      await verdictOn(testbed, workload, 'PdbBlocks');
      expect(victims(testbed, 'held')).toEqual([]);
    },
  },
  {
    name: 'what is left to do while a pod is being replaced, and when it is done',
    async play(testbed) {
      const slow = { ...ten('busy', 60), podAnnotations: { [READY_AFTER_ANNOTATION]: '7s' } };
      const workload = await testbed.declare(slow);
      await workload.ready(10);
      await workload.patch(annotate('spotPercentage', '90'));
      await waitFor('the first of three moves', () => victims(testbed, 'busy').length === 1, {
        timeoutMs: 60_000,
      });
      const askedAtMs = Date.now();
      const { plan } = await planned(testbed, 'busy');
      // Its replacement takes seven seconds, so that this is still the only one.
      expect(victims(testbed, 'busy')).toHaveLength(1);
      expect(plan).toMatchObject({ outcome: 'reached', scaling: [], after: { spot: 9, onDemand: 1 } });
      expect(plan.underWayUntilMs).toBeGreaterThan(Date.now() - 1_000);
      expect(plan.moves).toHaveLength(2);
      await settled(workload, plan.after);
      expect(victims(testbed, 'busy').slice(1)).toEqual(plan.moves.map(({ pod }) => pod));
      process.stdout.write(
        `plan: the last of three moves ended ${Date.now() - plan.endsAtMs} ms after the time that was foretold\n`,
      );
      // Two more pods that each take seven seconds to be ready. How long a busy machine takes on top nobody foretells.
      expect(plan.endsAtMs - askedAtMs).toBeGreaterThan(2 * 7_000 - 1_000);
    },
  },
  {
    name: 'a window that is closed',
    async play(testbed) {
      const workload = await testbed.declare(ten('closed', 60));
      await workload.ready(10);
      const halfADayFromNow = (new Date().getUTCHours() + 12) % 24;
      await workload.patch(annotate('disruptionSchedule', `0 ${halfADayFromNow} * * *`));
      await workload.patch(annotate('disruptionDuration', '1h'));
      const { plan } = await planned(testbed, 'closed', '--spot-percentage', '80');
      expect(plan.moves).toHaveLength(2);
      expect(plan).toMatchObject({ waits: [{ reason: 'WindowClosed' }] });
      await workload.patch(annotate('spotPercentage', '80'));
      await verdictOn(testbed, workload, 'WindowClosed');
      expect(victims(testbed, 'closed')).toEqual([]);
    },
  },
];

describe('what kubectl spotalis says', () => {
  let testbed: Testbed;
  let floors: Floors;

  beforeAll(async () => {
    testbed = await openTestbed({ patient: true, configuration: { rebalance } });
    floors = await Floors.follow(testbed.cluster);
    for (const name of ['raise', 'floor', 'fewer', 'held', 'busy', 'closed'])
      await testbed.cluster.api.apply(optedInNamespace(name));
    // At the same time: none of them disturbs another.
    outcomes = await Promise.allSettled(scenarios.map((scenario) => scenario.play(testbed)));
  }, 240_000);

  afterAll(() => testbed?.close());

  let outcomes: readonly PromiseSettledResult<void>[] = [];

  it.each(scenarios.map(({ name }, index) => [name, index] as const))(
    'of %s is what happens',
    (_name, index) => {
      const outcome = outcomes[index];
      if (outcome?.status === 'rejected') throw outcome.reason;
      expect(outcome?.status).toBe('fulfilled');
    },
  );

  it('of everything together is one line each, and of a workload what its Events say, too', async () => {
    const { code, stdout } = await spotalis(testbed, 'status', '-A');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^NAMESPACE +WORKLOAD +POLICY +REPLICAS +SPOT +ON-DEMAND +DRIFT +STATE\n/);
    expect(stdout).toMatch(/raise +deployment\/web +80%\/1 +10 +8\/8 +2\/2 +0 +Balanced/);
    expect(stdout).toMatch(/held +deployment\/web +80%\/1 +10 +6\/8 +4\/2 +-2 +PdbBlocks/);
    const raised = await spotalis(testbed, 'explain', 'deployment/web', '-n', 'raise');
    const [moved] = await eventsOn(testbed, new Workload(testbed.cluster.api, ten('raise', 80)), 'Moved');
    expect(moved).toBeDefined();
    expect(raised.stdout).toContain('Moved: Moving web-');
    const [pod] = await new Workload(testbed.cluster.api, ten('raise', 80)).pods();
    const told = await spotalis(
      testbed,
      'explain',
      `pod/${pod?.metadata?.name}`,
      '-n',
      'raise',
      '-o',
      'json',
    );
    expect(JSON.parse(told.stdout)).toMatchObject({
      account: { surplus: 0 },
      decision: { reason: 'Balanced' },
    });
  });

  it('every workload keeps its floor at each eviction', async () => {
    expect(await floors.breaches()).toEqual([]);
  });
});
