import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AuditEvent, installationNamespace, waitFor } from '@spotalis/cluster';
import { eventsOn, verdictOn } from '../testbed/moves.ts';
import { rebalance, settled, spotPercentage } from '../testbed/repair.ts';
import { openTestbed, type Testbed } from '../testbed/testbed.ts';
import type { Workload } from '../workloads/workload.ts';
import { Floors } from './floors.ts';
import { spotalis } from './kubectl.ts';

const listed = ['shop', 'bank'];
const policy = { spotPercentage: 70, minOnDemand: 2 };

/** Of no namespace by nature, whoever asks. */
const ofNone = new Set([
  'namespaces',
  'nodes',
  'nodepools',
  'persistentvolumes',
  'mutatingwebhookconfigurations',
]);

/** What our services asked for. */
function calls({ cluster }: Testbed): readonly AuditEvent[] {
  const ours = `system:serviceaccount:${installationNamespace}:spotalis-`;
  return cluster.auditLog.read(({ user }) => user.username.startsWith(ours), ours);
}

const textOf = ({ user, verb, objectRef, annotations }: AuditEvent): string => {
  const { resource = '', subresource, namespace = 'all' } = objectRef ?? {};
  const service = user.username.split('spotalis-').at(-1);
  const path = subresource === undefined ? resource : `${resource}/${subresource}`;
  const decision = annotations?.['authorization.k8s.io/decision'];
  return `${service} ${verb} ${path} in ${namespace}: ${decision}`;
};

describe('with rights in two namespaces alone', () => {
  let testbed: Testbed;
  let floors: Floors;
  let web: Workload;
  let stranger: Workload;

  beforeAll(async () => {
    testbed = await openTestbed({
      namespaces: listed,
      spotNodes: 3,
      onDemandNodes: 3,
      configuration: { controller: { resyncPeriod: '5s' }, rebalance },
    });
    floors = await Floors.follow(testbed.cluster);
  }, 120_000);

  afterAll(() => testbed?.close());

  it('splits bursts there exactly, and leaves a third namespace with the label alone', async () => {
    const declare = (name: string, namespace: string, replicas: number) =>
      testbed.declare({ name, namespace, replicas, policy });
    let safe: Workload;
    [web, safe, stranger] = await Promise.all([
      declare('web', 'shop', 10),
      declare('safe', 'bank', 60),
      declare('web', 'street', 20),
    ]);
    expect(await Promise.all([web.splitWhenCreated(10), safe.splitWhenCreated(60)])).toEqual([
      web.exactly(10),
      safe.exactly(60),
    ]);
    expect(await stranger.splitWhenCreated(20)).toEqual({ spot: 0, onDemand: 0, unsteered: 20 });
  }, 60_000);

  it('repairs a drift there, toward room that a placeholder has shown', async () => {
    await web.ready(10);
    await stranger.patch(spotPercentage(0));
    await web.patch(spotPercentage(80));
    await settled(web, { spot: 8, onDemand: 2 }, 60_000);
    expect(await eventsOn(testbed, web, 'Moved')).toHaveLength(1);
    expect([testbed.evictions('shop'), testbed.evictions()]).toEqual([1, 1]);
    // Pods of other namespaces are on the nodes, too, and not seen.
    expect(testbed.writes(installationNamespace).map(({ what }) => what)).toContain('create pods');
    expect(await stranger.split()).toEqual({ spot: 0, onDemand: 0, unsteered: 20 });
  }, 90_000);

  it('is known to the doctor, which misses no right', async () => {
    const { stdout } = await spotalis(testbed, 'doctor', '-n', 'street', '-o', 'json');
    const { findings } = JSON.parse(stdout) as { findings: readonly { id: string; object: string }[] };
    expect(findings.map(({ id, object }) => `${id}: ${object}`)).toEqual([
      'out-of-scope: Deployment street/web',
    ]);
  });

  it('asks for nothing outside of them', () => {
    const asked = [...new Set(calls(testbed).map(textOf))];
    const inside = new Set([...listed, installationNamespace]);
    const outside = asked.filter((call) => {
      const [, resource = '', namespace = ''] = /^\S+ \S+ (\S+) in (\S+):/.exec(call) ?? [];
      return !ofNone.has(resource) && !inside.has(namespace);
    });
    expect(outside).toEqual([]);
    expect(asked.filter((call) => !call.endsWith(': allow'))).toEqual([]);
    expect(asked).toEqual(
      expect.arrayContaining(
        listed.flatMap((namespace) => [
          `controller watch pods in ${namespace}: allow`,
          `webhook watch deployments in ${namespace}: allow`,
          `webhook watch replicasets in ${namespace}: allow`,
        ]),
      ),
    );
  });

  // Last: from here on something is refused.
  it('does not wait for one that was deleted, with its roles, when it starts', async () => {
    const { cluster, installation } = testbed;
    await cluster.api.delete('Namespace', 'bank');
    await waitFor(
      'bank to be gone',
      async () => (await cluster.api.find('Namespace', 'bank')) === undefined,
      {
        timeoutMs: 90_000,
      },
    );
    // Resolves when they are ready.
    const services = [...installation.webhooks, ...installation.controllers];
    await Promise.all(services.map(({ component }) => component.restart('SIGTERM')));
    await testbed.ledgerReady();
    const late = await testbed.declare({ name: 'late', namespace: 'shop', replicas: 20, policy });
    expect(await late.splitWhenCreated(20)).toEqual(late.exactly(20));
    await verdictOn(testbed, late, 'Balanced');
  }, 240_000);

  it('every workload keeps its floor at each eviction', async () => {
    expect(await floors.breaches()).toEqual([]);
  });
});
