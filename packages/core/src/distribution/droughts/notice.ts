import type { CapacityType } from '../../capacity/type.ts';
import { doomOf, type Nodes } from '../../cluster/node.ts';

/** Fewer are an ordinary interruption. */
const MANY = 3;

/** Whether the cloud is taking back nodes of a type on a large scale: half of them or more have been told to go. */
export function isWithdrawing(nodes: Nodes, type: CapacityType): boolean {
  let all = 0;
  let leaving = 0;
  for (const node of nodes.values()) {
    if (node.type !== type) continue;
    all++;
    if (doomOf(node) === 'NodeInterrupted') leaving++;
  }
  return leaving >= MANY && leaving * 2 >= all;
}
