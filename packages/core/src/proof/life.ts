import type { CapacityType } from '../capacity/type.ts';

/** A placeholder as it is seen in the cluster. */
export interface PlaceholderView {
  readonly name: string;
  readonly uid: string;
  readonly workloadUid: string;
  readonly type: CapacityType;
  readonly shape: string;
  readonly createdAtMs: number;
  readonly nodeName: string | null;
  readonly terminating: boolean;
  /** Succeeded or Failed: it takes no room any more. */
  readonly ended: boolean;
}

/** That somebody wants a placeholder, or wants to keep the one there is. */
export interface PlaceholderWish {
  /** As `placeholderKey` has it. */
  readonly key: string;
  readonly workloadUid: string;
  readonly type: CapacityType;
  /** Null: only what is there is kept, whatever it is made of. */
  readonly shape: string | null;
  readonly sinceMs: number;
  /** After a placeholder that was in vain. */
  readonly refusedUntilMs: number;
}

export interface LifeSettings {
  readonly max: number;
  /** How long one may be without a node. */
  readonly waitMs: number;
  /** How long one may be there at all. */
  readonly ageMs: number;
}

export interface LifeSnapshot {
  readonly placeholders: readonly PlaceholderView[];
  readonly wishes: readonly PlaceholderWish[];
  /** Made, and not seen yet. */
  readonly expected: number;
  /** Whether nobody has spoken of it yet, because the leader is new. */
  readonly isInherited: (placeholder: PlaceholderView) => boolean;
  readonly settings: LifeSettings;
}

/** Why a placeholder goes. Those of the first line were in vain. */
export const removalReasons = [
  'WaitedTooLong',
  'TooOld',
  'Ended',
  'NotWanted',
  'Outdated',
  'TooMany',
] as const;
export type RemovalReason = (typeof removalReasons)[number];

export interface Removal {
  readonly placeholder: PlaceholderView;
  readonly reason: RemovalReason;
}

export interface LifeDecision {
  readonly remove: readonly Removal[];
  /** The longest waiting first. Never more than there may be beside all that are there, even those that go. */
  readonly create: readonly PlaceholderWish[];
  /** Look again at this time at the latest; null: when something changes. */
  readonly againAtMs: number | null;
}

type Keyed = Pick<PlaceholderWish, 'workloadUid' | 'type'>;

export const placeholderKey = ({ workloadUid, type }: Keyed): string => `${workloadUid}/${type}`;

/** Which placeholders have to go, and which to come. */
export function tendPlaceholders(snapshot: LifeSnapshot, nowMs: number): LifeDecision {
  const { placeholders, wishes, expected, settings } = snapshot;
  const byKey = new Map(wishes.map((wish) => [wish.key, wish]));
  const times: number[] = [];
  const remove: Removal[] = [];
  const stay: PlaceholderView[] = [];
  for (const placeholder of placeholders) {
    if (placeholder.terminating) continue;
    const fate = fateOf(placeholder, byKey.get(placeholderKey(placeholder)), snapshot, nowMs);
    if (typeof fate === 'string') remove.push({ placeholder, reason: fate });
    else {
      stay.push(placeholder);
      times.push(fate);
    }
  }
  // Those without a node are the least that can be lost.
  const order = stay.toSorted(
    (a, b) => Number(b.nodeName !== null) - Number(a.nodeName !== null) || a.createdAtMs - b.createdAtMs,
  );
  for (const placeholder of order.slice(settings.max)) remove.push({ placeholder, reason: 'TooMany' });

  const taken = new Set(placeholders.map(placeholderKey));
  const wanting = wishes.filter((wish) => wish.shape !== null && !taken.has(wish.key));
  for (const { refusedUntilMs } of wanting) if (refusedUntilMs > nowMs) times.push(refusedUntilMs);
  const create = wanting
    .filter(({ refusedUntilMs }) => refusedUntilMs <= nowMs)
    .toSorted((a, b) => a.sinceMs - b.sinceMs)
    .slice(0, Math.max(0, settings.max - placeholders.length - expected));
  return { remove, create, againAtMs: times.length === 0 ? null : Math.min(...times) };
}

/** Why it has to go, or until when it may stay as things are. */
function fateOf(
  placeholder: PlaceholderView,
  wish: PlaceholderWish | undefined,
  { isInherited, settings: { waitMs, ageMs } }: LifeSnapshot,
  nowMs: number,
): RemovalReason | number {
  const { createdAtMs, nodeName, ended, shape } = placeholder;
  if (ended) return 'Ended';
  const untilMs = createdAtMs + (nodeName === null ? Math.min(waitMs, ageMs) : ageMs);
  if (untilMs <= nowMs) return nodeName === null ? 'WaitedTooLong' : 'TooOld';
  if (wish === undefined) return isInherited(placeholder) ? untilMs : 'NotWanted';
  return wish.shape !== null && wish.shape !== shape ? 'Outdated' : untilMs;
}

/** How long no other placeholder is made for a workload after so many in a row that were in vain. */
export function restAfter(
  failures: number,
  { initialMs, maxMs }: { readonly initialMs: number; readonly maxMs: number },
): number {
  return Math.max(initialMs, Math.min(maxMs, initialMs * 2 ** Math.min(failures - 1, 50)));
}
