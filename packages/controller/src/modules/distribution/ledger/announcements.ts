import type { LedgerPod, Revision } from '@spotalis/ledger';

/** What the ledger has to hear about one pod. */
export type Fact =
  | { readonly kind: 'seen'; readonly revision: Revision; readonly token: string; readonly pod: LedgerPod }
  | { readonly kind: 'released'; readonly revision: Revision; readonly token: string };

/** A place in one ledger: what calls are made about, and what the queue is keyed by. */
export type Place = string;

/** Joined, since V8 keeps what a template makes as a tree of its parts, and there is one for each pod. */
export const placeOf = ({ revision, token }: Fact): Place =>
  [revision.workloadUid, revision.replicaSetUid, token].join('/');

interface Entry {
  wanted: Fact;
  told: Fact | undefined;
  /** The pod left the store: once the ledger knows, nothing about it will ever be said again. */
  gone: boolean;
}

/**
 * What was seen against what the ledger was told, so that each pod costs one call when it appears, one when its
 * type or rank changes and one when it ends, however often it is seen in between and in whichever order.
 *
 * A fact that could not be delivered stays wanted; a newer one about the same place takes its seat.
 */
export class Announcements {
  readonly #entries = new Map<Place, Entry>();
  readonly #placeOfPod = new Map<string, Place>();

  /** The pod as it is now. Returns the places about which there is something to tell. */
  observe(podUid: string, fact: Fact): readonly Place[] {
    const place = placeOf(fact);
    const due: Place[] = [];
    const before = this.#placeOfPod.get(podUid);
    if (before !== undefined && before !== place) due.push(...this.#leave(before));
    this.#placeOfPod.set(podUid, place);
    const entry = this.#entries.get(place);
    if (entry === undefined) {
      this.#entries.set(place, { wanted: fact, told: undefined, gone: false });
      return [...due, place];
    }
    // The end is the end: what is late does not bring a pod back.
    if (entry.wanted.kind === 'released' || sameFact(entry.wanted, fact)) return due;
    entry.wanted = fact;
    return [...due, place];
  }

  /** The pod is in the store no more. */
  remove(podUid: string): readonly Place[] {
    const place = this.#placeOfPod.get(podUid);
    if (place === undefined) return [];
    this.#placeOfPod.delete(podUid);
    return this.#leave(place);
  }

  /** The pod is no longer ours to speak of, alive or not: nothing more is said about it. */
  forget(podUid: string): void {
    const place = this.#placeOfPod.get(podUid);
    if (place === undefined) return;
    this.#placeOfPod.delete(podUid);
    this.#entries.delete(place);
  }

  /** Where nothing may be told for now: of a pod that is gone nothing is kept. A LIST finds it out afterwards. */
  forgetGone(place: Place): void {
    if (this.#entries.get(place)?.gone === true) this.#entries.delete(place);
  }

  /** What to tell about a place, if anything. */
  due(place: Place): Fact | undefined {
    const entry = this.#entries.get(place);
    if (entry === undefined) return undefined;
    return entry.told !== undefined && sameFact(entry.told, entry.wanted) ? undefined : entry.wanted;
  }

  /** The ledger took `fact`. Something newer may have become wanted in the meantime. */
  told(place: Place, fact: Fact): void {
    const entry = this.#entries.get(place);
    if (entry === undefined) return;
    entry.told = fact;
    if (entry.gone && sameFact(fact, entry.wanted)) this.#entries.delete(place);
  }

  /** Where the ledger was told that this pod is. */
  heldPlace(podUid: string): Place | undefined {
    const place = this.#placeOfPod.get(podUid) ?? '';
    const entry = this.#entries.get(place);
    return entry?.told?.kind === 'seen' && entry.wanted.kind === 'seen' ? place : undefined;
  }

  /** Places with something to tell. Linear in all of them. */
  *undelivered(): Generator<Place> {
    for (const place of this.#entries.keys()) if (this.due(place) !== undefined) yield place;
  }

  get size(): number {
    return this.#entries.size;
  }

  #leave(place: Place): readonly Place[] {
    const entry = this.#entries.get(place);
    if (entry === undefined) return [];
    entry.gone = true;
    const { revision, token } = entry.wanted;
    entry.wanted = { kind: 'released', revision, token };
    if (entry.told?.kind !== 'released') return [place];
    this.#entries.delete(place);
    return [];
  }
}

/** The resource version moves with every heartbeat of a pod and is no news by itself. */
function sameFact(left: Fact, right: Fact): boolean {
  if (left.kind === 'released' || right.kind === 'released') return left.kind === right.kind;
  return (
    left.pod.type === right.pod.type &&
    left.pod.rank === right.pod.rank &&
    left.pod.substitute === right.pod.substitute
  );
}
