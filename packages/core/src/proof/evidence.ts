import type { ObservedPod } from '../cluster/observed-pod.ts';
import { type Nodes, withStates } from '../cluster/node.ts';
import { addResources, type Resources } from '../cluster/resources.ts';

/** What placeholders say about capacity of one type for one workload. */
export type PlaceholderEvidence =
  /** The configuration wants none. */
  | { readonly kind: 'off' }
  /** One may be asked for. */
  | { readonly kind: 'none' }
  /** Asked for, but as many as there may be are there already. */
  | { readonly kind: 'queued' }
  /** It has no node yet. */
  | { readonly kind: 'waiting'; readonly sinceMs: number }
  /** It has one, with room for a pod of that shape. */
  | { readonly kind: 'running'; readonly node: string; readonly requests: Resources }
  /** The last one was in vain; the next may be made at this time. */
  | { readonly kind: 'refused'; readonly untilMs: number };

/** The nodes as the workload's next pod would find them: what its placeholder takes is kept for it. */
export function withPlaceholder(nodes: Nodes, evidence: PlaceholderEvidence): Nodes {
  if (evidence.kind !== 'running') return nodes;
  const node = nodes.get(evidence.node);
  if (node === undefined) return nodes;
  const kept = { ...node, free: addResources(node.free, evidence.requests) };
  return withStates(nodes, new Map([[node.name, kept]]));
}

/** What a placeholder that is there shows; null when it has ended. */
export function evidenceOf({
  ended,
  nodeName,
  requests,
  createdAtMs,
}: Pick<ObservedPod, 'ended' | 'nodeName' | 'requests' | 'createdAtMs'>): PlaceholderEvidence | null {
  if (ended) return null;
  if (nodeName === undefined) return { kind: 'waiting', sinceMs: createdAtMs };
  return { kind: 'running', node: nodeName, requests };
}
