import type { Sizes } from '../cluster/size.ts';
import { type Change, changesOf, isIncrease, sizesOf } from './change.ts';
import { holdOf, type ResizeAsker, type ResizeSurroundings } from './guard.ts';
import type { ResizeHold } from './hold.ts';
import type { Originals } from './ownership.ts';
import type { ResizablePod } from './resizable-pod.ts';

/** What one resize asks for. */
export interface ResizeAsk extends ResizeAsker {
  readonly to: Sizes;
  /** From the annotation that is there, or is about to be written. */
  readonly originals: Originals | null;
}

export type ResizeStep =
  /** The pod has all of it already. */
  | { readonly kind: 'none' }
  | { readonly kind: 'held'; readonly hold: ResizeHold }
  /** To be sent in one patch. `held`: why the rest waits; null when there is none, or it is the next step's. */
  | { readonly kind: 'send'; readonly sizes: Sizes; readonly held: ResizeHold | null };

/**
 * How far the next patch goes. The kubelet carries out a pod's resize as a whole or not at all, so what would be held up
 * is left out: increases that do not fit, of one resource or of both, and memory limits that fall, which go last and
 * alone. A hold of anything else holds all of it.
 */
export function nextStep(pod: ResizablePod, ask: ResizeAsk, surroundings: ResizeSurroundings): ResizeStep {
  const changes = changesOf(pod, ask.to);
  if (changes.length === 0) return { kind: 'none' };
  const lowering = loweringOf(pod, changes);
  const rest = changes.filter((change) => !lowering.includes(change));
  let held: ResizeHold | null = null;
  for (const part of [rest, ...smallerParts(rest), lowering]) {
    if (part.length === 0) continue;
    const hold = holdOf(pod, part, ask.originals, ask, surroundings);
    if (hold === null) return { kind: 'send', sizes: sizesOf(part), held };
    held ??= hold;
    if (part === rest && hold.reason !== 'NodeFull' && hold.reason !== 'NodeTooSmall') break;
  }
  return held === null ? { kind: 'none' } : { kind: 'held', hold: held };
}

/** Memory limits that fall, with their requests where the two must be equal. */
function loweringOf({ qos }: ResizablePod, changes: readonly Change[]): readonly Change[] {
  const lower = new Set(
    changes
      .filter((change) => change.field === 'limits' && change.resource === 'memory' && !isIncrease(change))
      .map(({ container }) => container),
  );
  return changes.filter(
    ({ container, field, resource }) =>
      resource === 'memory' && lower.has(container) && (field === 'limits' || qos === 'Guaranteed'),
  );
}

/** Without the increases of one resource or the other, or of both. */
function smallerParts(changes: readonly Change[]): readonly (readonly Change[])[] {
  const without = (...resources: readonly string[]) => {
    const growing = new Set(
      changes
        .filter((change) => change.field === 'requests' && isIncrease(change))
        .map(({ container, resource }) => `${container}/${resource}`),
    );
    return changes.filter(
      ({ container, resource }) => !resources.includes(resource) || !growing.has(`${container}/${resource}`),
    );
  };
  return [without('memory'), without('cpu'), without('cpu', 'memory')].filter(
    ({ length }) => length < changes.length,
  );
}
