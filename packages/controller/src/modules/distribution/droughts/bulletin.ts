import { isDeepStrictEqual } from 'node:util';
import {
  type Breaker,
  bulletinPlace,
  type DroughtReport,
  nextProbeOf,
  type ObservedWorkload,
  readBulletin,
  writeBulletin,
} from '@spotalis/core';
import { type ApiClient, ApiError, asError, type RawObject, resource } from '@spotalis/kube';
import type { Logger } from '@spotalis/runtime';
import type { Cluster } from '../../../kernel/cluster/cluster.ts';

interface RawConfigMap extends RawObject {
  readonly data?: Readonly<Record<string, string>>;
}

const configMaps = resource<RawConfigMap>('v1', 'configmaps', 'ConfigMap');

/** Droughts come in groups: what changes within this is written at once. */
const GATHER_MS = 300;
/** Between two writes, however much changes. */
const PERIOD_MS = 5_000;
/** After a write that failed: people can wait, and Redis has what matters. */
const RETRY_MS = 30_000;
const DEADLINE_MS = 5_000;

export interface BulletinsParts {
  readonly client: Pick<ApiClient, 'get' | 'mergePatch'>;
  readonly cluster: Pick<Cluster, 'workload' | 'isManaged'>;
  readonly namespace: string;
  readonly writer: string;
  readonly mayWrite: () => boolean;
  readonly isReadOnly: () => boolean;
  readonly logger: Logger;
  readonly now: () => number;
  /** Returns the way to call it off. */
  readonly after: (ms: number, task: () => void) => () => void;
}

type Known = Omit<DroughtReport, 'poolIsOpen'>;

/**
 * Tells of droughts in a ConfigMap, for those who do not ask Redis. Written only when a breaker changed, and never
 * more often than once in five seconds. The leader's; nothing depends on it.
 */
export class Bulletins {
  readonly #parts: BulletinsParts;
  readonly #known = new Map<string, Known>();
  /** Told by the former leader, of workloads that this one has not looked at yet. */
  readonly #inherited = new Map<string, Known>();
  readonly #seen = new Set<string>();
  #isPoolOpen: (pool: string) => boolean = () => false;
  /** Undefined: nobody knows what is there. */
  #written: readonly DroughtReport[] | undefined;
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #isLeading = false;
  #cancel: (() => void) | undefined;
  #isBusy = false;
  #isFailing = false;

  constructor(parts: BulletinsParts) {
    this.#parts = parts;
  }

  /** From now on, until the way out that it returns. */
  lead(): () => void {
    this.#isLeading = true;
    this.#isBusy = true;
    void this.#readFormer().finally(() => {
      this.#isBusy = false;
      this.#plan(GATHER_MS);
    });
    return () => {
      this.#isLeading = false;
      this.#cancel?.();
      this.#cancel = undefined;
    };
  }

  /** As a look at the workload found it, or as it was written. */
  note(
    workload: ObservedWorkload,
    breaker: Breaker,
    pool: string,
    isPoolOpen: (pool: string) => boolean,
  ): void {
    const { uid, name, namespace = '' } = workload.metadata;
    this.#isPoolOpen = isPoolOpen;
    this.#seen.add(uid);
    const wasInherited = this.#inherited.delete(uid);
    const before = this.#known.get(uid);
    if (breaker.state === 'closed') {
      if (this.#known.delete(uid) || wasInherited) this.#plan(GATHER_MS);
      return;
    }
    const { state, sinceMs } = breaker;
    const kind = workload.workloadKind;
    const now = { kind, namespace, name, uid, state, sinceMs, nextProbeAtMs: nextProbeOf(breaker), pool };
    if (isDeepStrictEqual(before, now)) return;
    this.#known.set(uid, now);
    this.#plan(GATHER_MS);
  }

  /** The workload is gone, or not ours any more. */
  forget(uid: string): void {
    this.#seen.add(uid);
    const wasInherited = this.#inherited.delete(uid);
    if (this.#known.delete(uid) || wasInherited) this.#plan(GATHER_MS);
  }

  async #readFormer(): Promise<void> {
    const { client, namespace, logger } = this.#parts;
    try {
      const { data } = await client.get(
        configMaps,
        { namespace, name: bulletinPlace.name },
        { once: true, deadlineMs: DEADLINE_MS },
      );
      const reading = readBulletin(data?.[bulletinPlace.key]);
      if (reading.kind === 'blank') this.#written = [];
      if (reading.kind !== 'read') return;
      const { droughts, omitted } = reading.bulletin;
      // What was left out is not known: the next change writes it whole.
      this.#written = omitted === 0 ? droughts : undefined;
      for (const { poolIsOpen: _poolIsOpen, ...report } of droughts) {
        if (!this.#seen.has(report.uid)) this.#inherited.set(report.uid, report);
      }
    } catch (thrown) {
      const error = asError(thrown);
      // There is nothing that a reader could be misled by.
      if (isLasting(error)) this.#written = [];
      logger.debug('the bulletin of droughts could not be read', { error });
    }
  }

  #plan(ms: number): void {
    if (!this.#isLeading || this.#isBusy || this.#cancel !== undefined) return;
    // A clock that was set back holds nothing up.
    const restMs = Math.min(PERIOD_MS, this.#writtenAtMs + PERIOD_MS - this.#parts.now());
    const dueInMs = Math.max(ms, restMs);
    this.#cancel = this.#parts.after(dueInMs, () => {
      this.#cancel = undefined;
      void this.#write();
    });
  }

  #reports(): readonly DroughtReport[] {
    const { cluster } = this.#parts;
    const isThere = ({ kind, namespace, name, uid }: Known): boolean => {
      const found = cluster.workload(kind, `${namespace}/${name}`);
      return found?.metadata.uid === uid && cluster.isManaged(found);
    };
    return [...this.#known.values(), ...[...this.#inherited.values()].filter(isThere)]
      .map((report) => ({ ...report, poolIsOpen: this.#isPoolOpen(report.pool) }))
      .toSorted((a, b) => a.sinceMs - b.sinceMs || (a.uid < b.uid ? -1 : 1));
  }

  async #write(): Promise<void> {
    const { client, namespace, writer, mayWrite, isReadOnly, now, logger } = this.#parts;
    const droughts = this.#reports();
    if (isDeepStrictEqual(droughts, this.#written) || !mayWrite()) return;
    if (isReadOnly()) {
      this.#plan(RETRY_MS);
      return;
    }
    this.#isBusy = true;
    this.#writtenAtMs = now();
    const text = writeBulletin({ writer, writtenAtMs: now(), droughts, omitted: 0 });
    let againInMs = PERIOD_MS;
    try {
      await client.mergePatch(
        configMaps,
        { namespace, name: bulletinPlace.name },
        { data: { [bulletinPlace.key]: text } },
        {},
        { once: true, deadlineMs: DEADLINE_MS, fence: mayWrite },
      );
      this.#written = droughts;
      this.#isFailing = false;
    } catch (thrown) {
      againInMs = RETRY_MS;
      const error = asError(thrown);
      const isNew = !this.#isFailing;
      this.#isFailing = true;
      logger[isNew ? 'warn' : 'debug']('the bulletin of droughts was not written', { error });
    } finally {
      this.#isBusy = false;
    }
    // For what changed meanwhile; it writes nothing if that is nothing.
    this.#plan(againInMs);
  }
}

/** It is not there, or not ours: the doctor finds that. */
const isLasting = (error: Error): boolean =>
  error instanceof ApiError && (error.status === 403 || error.status === 404);
