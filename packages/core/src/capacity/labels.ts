import { shown } from '../policy/problem.ts';
import { type NodeLabel, parseNodeLabel } from './label.ts';

/** `nodeLabels` as the configuration holds it. */
export interface NodeLabelTexts {
  readonly spot: string | readonly string[];
  readonly onDemand: string | readonly string[];
}

/** How nodes of each type are recognised. Neither list is empty. */
export interface NodeLabels {
  readonly spot: readonly NodeLabel[];
  readonly onDemand: readonly NodeLabel[];
}

export interface NodeLabelProblem {
  readonly code: 'InvalidNodeLabel' | 'MissingNodeLabel' | 'AmbiguousNodeLabel';
  /** The path of the key in the configuration. */
  readonly key: string;
  readonly value: string | null;
  readonly message: string;
}

export type NodeLabelsReading =
  | { readonly ok: true; readonly labels: NodeLabels }
  | { readonly ok: false; readonly problems: readonly NodeLabelProblem[] };

const example = 'karpenter.sh/capacity-type=spot';

function readSide(
  texts: string | readonly string[],
  path: string,
  problems: NodeLabelProblem[],
): NodeLabel[] {
  const list = typeof texts === 'string' ? [texts] : texts;
  if (list.length === 0) {
    const message = `${path} is empty, so no node would be of this type. Example: ${example}`;
    problems.push({ code: 'MissingNodeLabel', key: path, value: null, message });
  }
  const labels: NodeLabel[] = [];
  for (const text of list) {
    const label = parseNodeLabel(text);
    if (label !== null) {
      labels.push(label);
      continue;
    }
    const message = `${path}: ${shown(text)} is not key=value, key!=value or !key. Example: ${example}`;
    problems.push({ code: 'InvalidNodeLabel', key: path, value: text, message });
  }
  return labels;
}

const isSame = (a: NodeLabel, b: NodeLabel): boolean =>
  a.op === b.op && a.key === b.key && (a.op === 'absent' || b.op === 'absent' || a.value === b.value);

const isNegative = ({ op }: NodeLabel): boolean => op !== 'equals';

/** Reads `nodeLabels`; a label that would make a node both types at once is refused. */
export function readNodeLabels(texts: NodeLabelTexts): NodeLabelsReading {
  const problems: NodeLabelProblem[] = [];
  const spot = readSide(texts.spot, 'nodeLabels.spot', problems);
  const onDemand = readSide(texts.onDemand, 'nodeLabels.onDemand', problems);
  for (const label of onDemand) {
    if (!spot.some((other) => isSame(label, other))) continue;
    const message = `nodeLabels.onDemand: ${label.key} is under nodeLabels.spot with the same condition. Example: karpenter.sh/capacity-type=on-demand`;
    problems.push({ code: 'AmbiguousNodeLabel', key: 'nodeLabels.onDemand', value: label.key, message });
  }
  if (spot.some(isNegative) && onDemand.some(isNegative)) {
    const message =
      'nodeLabels: both types have a label with "!", so a node without labels would be both. Example: cloud.google.com/gke-spot=true for spot and !cloud.google.com/gke-spot for onDemand';
    problems.push({ code: 'AmbiguousNodeLabel', key: 'nodeLabels', value: null, message });
  }
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, labels: { spot, onDemand } };
}
