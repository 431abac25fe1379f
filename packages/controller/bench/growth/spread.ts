import { stage } from '../../src/testing/rebalancing.ts';
import { microseconds, nodeNameOf, PODS_PER_NODE, putNode, putPod, putWorkload } from './world.ts';

const CANDIDATES = 50;
const zones = ['a', 'b', 'c'];

/** A decision about fifty pods that spread over zones, of which none may go: every node is asked about. */
export async function spreadWork(pods: number): Promise<{ readonly spreadUs: number }> {
  const { cluster, look, asked } = stage({}, []);
  const nodes = Math.ceil(pods / PODS_PER_NODE / 2);
  for (let index = 0; index < nodes; index++) {
    const zone = zones[index % zones.length] ?? 'a';
    putNode(cluster, 'spot', index, { zone });
    // Room is only where too many of them are.
    putNode(cluster, 'on-demand', index, { zone, pods: zone === 'a' ? 110 : 0 });
  }
  cluster.nodes.remove('od-1');
  const matchLabels = { app: 'wide' };
  const overZones = {
    topologyKey: 'topology.kubernetes.io/zone',
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels },
  };
  putWorkload(cluster, 'wide', CANDIDATES + 10, {
    metadata: { labels: matchLabels },
    spec: { topologySpreadConstraints: [overZones] },
  });
  for (let index = 0; index < CANDIDATES + 10; index++) {
    const type = index < CANDIDATES ? 'spot' : 'on-demand';
    putPod(cluster, 'wide', index, type, nodeNameOf(type, type === 'spot' ? index % nodes : 0), matchLabels);
  }
  let passedMs = 60_000;
  const spreadUs = await microseconds(9, 1, () => look((passedMs += 1), 'wide'));
  if (asked.length > 0) throw new Error('a pod was free to go');
  return { spreadUs };
}
