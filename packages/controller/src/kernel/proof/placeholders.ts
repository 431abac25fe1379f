import {
  type Backoff,
  type CapacityType,
  capacityTypes,
  evidenceOf,
  type ObservedPod,
  type PlaceholderEvidence,
  placeholderKey,
  placeholderManifest,
  placeholderName,
  type PlaceholderShape,
  type PlaceholderSubject,
  type PlaceholderView,
  type PlaceholderWish,
  type Removal,
  restAfter,
  shapeText,
  tendPlaceholders,
} from '@spotalis/core';
import { ApiError, type ApiClient, asError, FenceClosedError, resource } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import type { Cluster } from '../cluster/cluster.ts';
import type { PlaceholderMetrics } from './metrics.ts';

const pods = resource('v1', 'pods', 'Pod');
const DEADLINE_MS = 10_000;
/** One that was made and is not in the store after this time is not there. */
const UNSEEN_MS = 15_000;
/** A new leader's stores may be behind the last writes of the one before. */
const FIRST_MS = 3_000;
/** A new leader has looked at every workload well before. */
const ORPHAN_MS = 60_000;

/** Who wants a placeholder: an ordinary move, or a drought that may be over. It stays while one of them does. */
export type Purpose = 'move' | 'probe';

export interface PlaceholdersParts {
  readonly cluster: Cluster;
  readonly client: Pick<ApiClient, 'create' | 'delete'>;
  /** Our own. */
  readonly namespace: string;
  readonly settings: {
    readonly enabled: boolean;
    readonly image: string;
    readonly priorityClass: string;
    readonly max: number;
    readonly waitMs: number;
    readonly ageMs: number;
    /** A wish that nobody renews is over after this time. */
    readonly wishMs: number;
  };
  /** After one that was in vain: that of droughts. */
  readonly backoff: () => Backoff;
  /** The controller's Deployment, if it is known. */
  readonly owner: () => { readonly name: string; readonly uid: string } | null;
  readonly mayWrite: () => boolean;
  readonly isReadOnly: () => boolean;
  readonly metrics: PlaceholderMetrics;
  readonly logger: Logger;
  /** Wall clock, as creation times are. */
  readonly now: () => number;
}

interface Wish {
  readonly subject: PlaceholderSubject;
  /** Null: only what is there is kept, whatever it is made of. */
  made: { readonly of: PlaceholderShape; readonly text: string } | null;
  readonly sinceMs: number;
  /** Until when each purpose wants it, unless it says so again. */
  readonly untilMs: Map<Purpose, number>;
}

/**
 * The leader's placeholders. A workload says at each look what it wants (`want`, `keep`, `release`) and reads what is
 * known (`evidence`); what is made and removed follows from that and from the pods that are there, so that a new
 * leader needs nothing from the one before.
 */
export class Placeholders {
  readonly #parts: PlaceholdersParts;
  readonly #wishes = new Map<string, Wish>();
  /** By name: when it was made, until it is seen. */
  readonly #unseen = new Map<string, number>();
  /** By UID: removal asked for. */
  readonly #going = new Set<string>();
  /** By key: how many in a row were in vain, and until when there is none. */
  readonly #vain = new Map<string, { readonly count: number; readonly untilMs: number }>();
  /** By key: seen when this process began to lead, and nobody has spoken of it yet. */
  readonly #inherited = new Set<string>();
  #ledSinceMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer ends. */
  #dueAtMs = Number.POSITIVE_INFINITY;

  constructor(parts: PlaceholdersParts) {
    this.#parts = parts;
  }

  /** What is known about capacity of a type for a workload. */
  evidence(workloadUid: string, type: CapacityType): PlaceholderEvidence {
    const { settings, cluster, namespace, isReadOnly } = this.#parts;
    if (!settings.enabled || isReadOnly()) return { kind: 'off' };
    const pod = cluster.pods.get(`${namespace}/${placeholderName({ uid: workloadUid, type })}`);
    if (pod !== undefined && pod.placeholder !== null && !this.#going.has(pod.metadata.uid)) {
      const evidence = evidenceOf(pod);
      if (evidence !== null) return evidence;
    }
    const key = placeholderKey({ workloadUid, type });
    const untilMs = this.#restEnd(key);
    if (untilMs !== null) return { kind: 'refused', untilMs };
    return this.#wishes.has(key) ? { kind: 'queued' } : { kind: 'none' };
  }

  /** Has one made, as soon as there may be another. To be said again at each look. */
  want(subject: PlaceholderSubject, shape: PlaceholderShape, by: Purpose): void {
    if (!this.#parts.settings.enabled || this.#parts.isReadOnly()) return;
    const key = placeholderKey({ workloadUid: subject.uid, type: subject.type });
    const untilMs = this.#wishEnd();
    const wish = this.#wishes.get(key) ?? this.#wish(key, subject);
    wish.made = { of: shape, text: shapeText(shape) };
    wish.untilMs.set(by, untilMs);
    this.#inherited.delete(key);
    if (this.#callsForTending(key, wish)) this.#tend();
    else this.#dueBy(Math.min(untilMs, this.#restEnd(key) ?? untilMs));
  }

  /** Has the one that is there stay, and none made instead of it. */
  keep(subject: PlaceholderSubject, by: Purpose): void {
    const key = placeholderKey({ workloadUid: subject.uid, type: subject.type });
    const wish = this.#wishes.get(key);
    if (wish !== undefined) {
      wish.untilMs.set(by, this.#wishEnd());
      if (wish.untilMs.size === 1) wish.made = null;
      return;
    }
    if (!this.#isThere(subject)) return;
    const untilMs = this.#wishEnd();
    this.#wish(key, subject).untilMs.set(by, untilMs);
    this.#inherited.delete(key);
    this.#dueBy(untilMs);
  }

  /** It has served, or is not needed. */
  release(workloadUid: string, type: CapacityType, by: Purpose): void {
    const key = placeholderKey({ workloadUid, type });
    this.#inherited.delete(key);
    const wish = this.#wishes.get(key);
    wish?.untilMs.delete(by);
    if (wish?.untilMs.size === 0) this.#wishes.delete(key);
    if (this.#isThere({ uid: workloadUid, type })) this.#tend();
  }

  /** The workload is gone, or not ours any more. */
  forget(workloadUid: string): void {
    let isThere = false;
    for (const type of capacityTypes) {
      const key = placeholderKey({ workloadUid, type });
      this.#wishes.delete(key);
      this.#inherited.delete(key);
      this.#vain.delete(key);
      isThere ||= this.#isThere({ uid: workloadUid, type });
    }
    if (isThere) this.#tend();
  }

  /** Begins to lead. Returns the way out; what is there then is the next leader's to find. */
  lead(): () => void {
    const { cluster, namespace, now } = this.#parts;
    this.#ledSinceMs = now();
    for (const view of this.#views()) this.#inherited.add(placeholderKey(view));
    const leave = cluster.pods.subscribe((change) => {
      const { placeholder, metadata } = change.object;
      if (placeholder === null || metadata.namespace !== namespace) return;
      this.#unseen.delete(metadata.name);
      if (change.type === 'deleted') this.#going.delete(metadata.uid);
      this.#tend();
    });
    this.#tend();
    return () => {
      leave();
      this.#rest();
      this.#ledSinceMs = undefined;
    };
  }

  /** For people. */
  state(): unknown {
    return this.#views().map(({ name, nodeName, createdAtMs }) => ({
      name,
      node: nodeName,
      createdAt: new Date(createdAtMs).toISOString(),
    }));
  }

  /**
   * Weighs all wishes against all that is there: only where that may have something made or removed, because each
   * look at a workload renews its wish.
   */
  #tend(): void {
    const { now, metrics, mayWrite, isReadOnly, settings } = this.#parts;
    if (this.#ledSinceMs === undefined) return;
    const nowMs = now();
    const views = this.#views();
    metrics.count(
      views.filter(({ nodeName }) => nodeName === null).length,
      views.filter(({ nodeName }) => nodeName !== null).length,
    );
    this.#lapse(nowMs);
    const orphansUntilMs = this.#ledSinceMs + ORPHAN_MS;
    const decision = tendPlaceholders(
      {
        placeholders: views,
        wishes: [...this.#wishes.values()].map((wish) => this.#wishOf(wish)),
        expected: this.#unseen.size,
        isInherited: (view) => this.#inherited.has(placeholderKey(view)) && nowMs < orphansUntilMs,
        settings,
      },
      nowMs,
    );
    const firstMs = this.#ledSinceMs + FIRST_MS;
    // In read-only mode not even what is not wanted any more: a kubelet ends it in time.
    if (mayWrite() && !isReadOnly()) {
      for (const removal of decision.remove) void this.#remove(removal, nowMs);
      if (nowMs >= firstMs) for (const { key } of decision.create) void this.#create(key, nowMs);
    }
    this.#again(nowMs, [
      decision.againAtMs,
      nowMs < firstMs ? firstMs : null,
      this.#inherited.size > 0 && nowMs < orphansUntilMs ? orphansUntilMs : null,
      ...[...this.#wishes.values()].flatMap(({ untilMs }) => [...untilMs.values()]),
      ...[...this.#unseen.values()].map((atMs) => atMs + UNSEEN_MS),
    ]);
  }

  /** Whether a wish that was just renewed may have one made, or the one that is there removed. */
  #callsForTending(key: string, { subject, made }: Wish): boolean {
    const { cluster, namespace, settings, mayWrite, isReadOnly, now } = this.#parts;
    if (this.#ledSinceMs === undefined || !mayWrite() || isReadOnly()) return false;
    const name = placeholderName(subject);
    const pod = cluster.pods.get(`${namespace}/${name}`);
    if (pod !== undefined) return pod.placeholder?.shape !== made?.text;
    const mayComeNow = now() >= this.#ledSinceMs + FIRST_MS && this.#restEnd(key) === null;
    const count = cluster.pods.countBy('placeholder', namespace) + this.#unseen.size;
    return mayComeNow && !this.#unseen.has(name) && count < settings.max;
  }

  #again(nowMs: number, times: readonly (number | null)[]): void {
    this.#rest();
    let dueAtMs = Number.POSITIVE_INFINITY;
    for (const atMs of times) if (atMs !== null && atMs < dueAtMs) dueAtMs = atMs;
    if (dueAtMs < Number.POSITIVE_INFINITY) this.#dueBy(dueAtMs, nowMs);
  }

  /** Tends at this time at the latest. */
  #dueBy(atMs: number, nowMs = this.#parts.now()): void {
    // A removal that failed is tried again about once a second.
    const dueAtMs = Math.max(atMs, nowMs + 1_000);
    if (this.#ledSinceMs === undefined || this.#dueAtMs <= dueAtMs) return;
    clearTimeout(this.#timer);
    this.#dueAtMs = dueAtMs;
    this.#timer = setTimeout(() => this.#tend(), dueAtMs - nowMs).unref();
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#dueAtMs = Number.POSITIVE_INFINITY;
  }

  #lapse(nowMs: number): void {
    for (const [key, { untilMs }] of this.#wishes) {
      for (const [by, atMs] of untilMs) if (atMs <= nowMs) untilMs.delete(by);
      if (untilMs.size === 0) this.#wishes.delete(key);
    }
    for (const [name, atMs] of this.#unseen) if (atMs + UNSEEN_MS <= nowMs) this.#unseen.delete(name);
  }

  #wish(key: string, subject: PlaceholderSubject): Wish {
    const wish: Wish = { subject, made: null, sinceMs: this.#parts.now(), untilMs: new Map() };
    this.#wishes.set(key, wish);
    return wish;
  }

  #wishOf({ subject: { uid, type }, made, sinceMs }: Wish): PlaceholderWish {
    const key = placeholderKey({ workloadUid: uid, type });
    const isOnItsWay = this.#unseen.has(placeholderName({ uid, type }));
    return {
      key,
      workloadUid: uid,
      type,
      shape: made === null || isOnItsWay ? null : made.text,
      sinceMs,
      refusedUntilMs: this.#vain.get(key)?.untilMs ?? 0,
    };
  }

  #views(): readonly PlaceholderView[] {
    const { cluster, namespace } = this.#parts;
    return cluster.pods.by('placeholder', namespace).flatMap((pod) => viewOf(pod, this.#going));
  }

  #isThere(subject: Pick<PlaceholderSubject, 'uid' | 'type'>): boolean {
    const { cluster, namespace } = this.#parts;
    return cluster.pods.get(`${namespace}/${placeholderName(subject)}`) !== undefined;
  }

  async #create(key: string, nowMs: number): Promise<void> {
    const { client, namespace, settings, owner, mayWrite, logger, metrics, now } = this.#parts;
    const wish = this.#wishes.get(key);
    if (wish === undefined || wish.made === null) return;
    const { subject, made } = wish;
    // Made since it was decided.
    if (this.#isThere(subject)) return;
    const manifest = placeholderManifest(subject, made.of, {
      namespace,
      image: settings.image,
      priorityClass: settings.priorityClass,
      owner: owner(),
    });
    const { name } = manifest.metadata;
    this.#unseen.set(name, nowMs);
    try {
      const options = { once: true, deadlineMs: DEADLINE_MS, fence: mayWrite } as const;
      await client.create(pods, { namespace }, manifest, {}, options);
      metrics.created();
      logger.info('placeholder made', { placeholder: name, for: `${subject.namespace}/${subject.name}` });
    } catch (thrown) {
      const error = asError(thrown);
      if (error instanceof FenceClosedError) {
        this.#unseen.delete(name);
        return;
      }
      // It is there already, and the store will show it; or it may have been made, and the answer was lost.
      if (!(error instanceof ApiError) || error.status === 409) return;
      this.#unseen.delete(name);
      this.#inVain(key, now());
      this.#dueBy(now());
      logger.warn('placeholder refused', { placeholder: name, error });
    }
  }

  async #remove({ placeholder, reason }: Removal, nowMs: number): Promise<void> {
    const { client, namespace, mayWrite, logger, metrics } = this.#parts;
    const { name, uid } = placeholder;
    if (reason === 'WaitedTooLong' || reason === 'TooOld' || reason === 'Ended') {
      this.#inVain(placeholderKey(placeholder), nowMs);
    } else if (placeholder.nodeName !== null) {
      this.#vain.delete(placeholderKey(placeholder));
    }
    this.#going.add(uid);
    try {
      const options = { once: true, deadlineMs: DEADLINE_MS, fence: mayWrite } as const;
      await client.delete(pods, { namespace, name }, { uid }, options);
      metrics.removed(reason);
      logger.info('placeholder removed', { placeholder: name, node: placeholder.nodeName, reason });
    } catch (thrown) {
      const error = asError(thrown);
      const isGone = error instanceof ApiError && (error.status === 404 || error.status === 409);
      if (isGone) return;
      this.#going.delete(uid);
      this.#dueBy(this.#parts.now());
      if (!(error instanceof FenceClosedError))
        logger.warn('placeholder not removed', { placeholder: name, error });
    }
  }

  /** Until when there is none after one that was in vain; null: there may be one. */
  #restEnd(key: string): number | null {
    const untilMs = this.#vain.get(key)?.untilMs ?? 0;
    return untilMs > this.#parts.now() ? untilMs : null;
  }

  #inVain(key: string, nowMs: number): void {
    const { backoff } = this.#parts;
    const count = (this.#vain.get(key)?.count ?? 0) + 1;
    this.#vain.set(key, { count, untilMs: nowMs + restAfter(count, backoff()) });
  }

  #wishEnd(): number {
    return this.#parts.now() + this.#parts.settings.wishMs;
  }
}

function viewOf(
  { metadata, placeholder, createdAtMs, nodeName, terminating, ended }: ObservedPod,
  going: ReadonlySet<string>,
): readonly PlaceholderView[] {
  if (placeholder === null) return [];
  const { name, uid } = metadata;
  const isGoing = terminating || going.has(uid);
  return [
    { name, uid, ...placeholder, createdAtMs, nodeName: nodeName ?? null, terminating: isGoing, ended },
  ];
}
