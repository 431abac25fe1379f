import { stage } from '../../src/testing/rebalancing.ts';
import { fill, microseconds, nodeNameOf, putPod, putWorkload } from './world.ts';

const LOOKS = 50;
const ROUNDS = 9;

/** A look at a workload that needs nothing, while no room is promised and while a move is in flight. */
export async function lookWork(pods: number) {
  const { cluster, look, asked } = stage({}, []);
  const { workloads, nodes } = fill(cluster, pods);
  const lookUs = await microseconds(ROUNDS, LOOKS, (index) => look(0, `w${index % workloads}`));
  putWorkload(cluster, 'adrift', 10);
  for (let index = 0; index < 10; index++) putPod(cluster, 'adrift', index, 'spot', nodeNameOf('spot', 0));
  await look(60_000, 'adrift');
  if (asked.length === 0) throw new Error('no move is in flight');
  const lookBesideMoveUs = await microseconds(ROUNDS, LOOKS, (index) => look(0, `w${index % workloads}`));
  return { nodes, lookUs, lookBesideMoveUs };
}
