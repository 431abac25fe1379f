import type { Change, Store } from '@spotalis/kube';
import { keyOf } from '@spotalis/kube';
import type { OptInRecord } from './record.ts';

/** The longest time for which a live answer stands in for a watch event. */
const REMEMBERED_MS = 5_000;

interface Remembered {
  /** Undefined: no such object. */
  readonly record: OptInRecord | undefined;
  /** The object asked for: another one of its name may exist. */
  readonly uid: string | undefined;
  readonly untilMs: number;
}

interface Reading {
  readonly result: Promise<OptInRecord | undefined>;
  /** An event came while the object was read: its readers may use the answer, but it is not kept. */
  overtaken: boolean;
}

export interface LookupOptions {
  /** Holds labelled objects only, and lags behind. */
  readonly store: Store<OptInRecord>;
  /** Undefined when there is no such object. */
  readonly read: (key: string) => Promise<OptInRecord | undefined>;
  readonly now: () => number;
}

/**
 * Finds an object by name. What the store has is good; what it does not have may be unlabelled, or newer than the
 * watch: a Deployment's first pods arrive before its own event does. So one live read decides, and its answer
 * holds until an event comes, or for five seconds.
 */
export class Lookup {
  readonly #options: LookupOptions;
  /** In order of time, since all are kept equally long. */
  readonly #remembered = new Map<string, Remembered>();
  readonly #readings = new Map<string, Reading>();

  constructor(options: LookupOptions) {
    this.#options = options;
    options.store.subscribe((change) => this.#forget(change));
  }

  /** `uid`, where it is known, tells an object from an earlier one of the same name. */
  async find(key: string, uid?: string): Promise<OptInRecord | undefined> {
    const stored = this.#options.store.get(key);
    if (stored !== undefined && isMeant(stored, uid)) {
      return stored;
    }
    const remembered = this.#recall(key);
    if (remembered !== undefined && answers(remembered, uid)) {
      return remembered.record;
    }
    const record = await this.#read(key, uid);
    return record !== undefined && isMeant(record, uid) ? record : undefined;
  }

  /** Whether the store has it: it is labelled, as far as the watch shows. */
  mirrors(key: string): boolean {
    return this.#options.store.get(key) !== undefined;
  }

  #recall(key: string): Remembered | undefined {
    const remembered = this.#remembered.get(key);
    return remembered !== undefined && remembered.untilMs > this.#options.now() ? remembered : undefined;
  }

  #read(key: string, uid: string | undefined): Promise<OptInRecord | undefined> {
    const running = this.#readings.get(key);
    // A read that an event overtook may be older than this question.
    if (running !== undefined && !running.overtaken) {
      return running.result;
    }
    const reading: Reading = { result: this.#options.read(key), overtaken: false };
    this.#readings.set(key, reading);
    return reading.result
      .then((record) => {
        if (!reading.overtaken) {
          this.#remember(key, uid, record);
        }
        return record;
      })
      .finally(() => {
        if (this.#readings.get(key) === reading) {
          this.#readings.delete(key);
        }
      });
  }

  #remember(key: string, uid: string | undefined, record: OptInRecord | undefined): void {
    const now = this.#options.now();
    for (const [old, { untilMs }] of this.#remembered) {
      if (untilMs > now) {
        break;
      }
      this.#remembered.delete(old);
    }
    this.#remembered.delete(key);
    this.#remembered.set(key, { record, uid, untilMs: now + REMEMBERED_MS });
  }

  #forget(change: Change<OptInRecord>): void {
    const key = keyOf(change.object);
    this.#remembered.delete(key);
    const reading = this.#readings.get(key);
    if (reading !== undefined) {
      reading.overtaken = true;
    }
  }
}

function isMeant(record: OptInRecord, uid: string | undefined): boolean {
  return uid === undefined || record.metadata.uid === uid;
}

function answers({ record, uid: asked }: Remembered, uid: string | undefined): boolean {
  return record === undefined ? asked === uid : isMeant(record, uid);
}
