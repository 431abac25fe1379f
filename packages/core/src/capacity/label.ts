import type { Labels } from '../policy/keys.ts';

/** One condition on a node's labels, as the configuration's `nodeLabels` names it. */
export type NodeLabel =
  | { readonly op: 'equals'; readonly key: string; readonly value: string }
  | { readonly op: 'differs'; readonly key: string; readonly value: string }
  | { readonly op: 'absent'; readonly key: string };

const name = '[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const domain = '[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?';
const key = `(?:${domain}/)?${name}`;
const present = new RegExp(`^(${key})(!?=)(${name})$`);
const absent = new RegExp(`^!(${key})$`);

/** `k=v`, `k!=v` (also where the node has no k) or `!k`; null when it is none of them. */
export function parseNodeLabel(text: string): NodeLabel | null {
  const missing = absent.exec(text);
  if (missing !== null) return { op: 'absent', key: missing[1] ?? '' };
  const [, found, operator, value] = present.exec(text) ?? [];
  if (found === undefined || value === undefined) return null;
  return { op: operator === '=' ? 'equals' : 'differs', key: found, value };
}

export function isMet(label: NodeLabel, labels: Labels): boolean {
  const value = labels[label.key];
  if (label.op === 'absent') return value === undefined;
  return (value === label.value) === (label.op === 'equals');
}
