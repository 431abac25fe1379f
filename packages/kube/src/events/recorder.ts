import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { ApiError, asError } from '../errors.ts';
import { microTime } from '../lease/record.ts';
import { resource } from '../resource.ts';
import type { ApiClient } from '../transport/client.ts';
import { ObjectLimit } from './limit.ts';

const events = resource('events.k8s.io/v1', 'events', 'Event');

/** What an Event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
}

/** This process, as far as it can know: in Kubernetes a pod's host name is its name. */
export function ownPod(namespace: string | undefined): ObjectReference {
  return { apiVersion: 'v1', kind: 'Pod', name: hostname(), ...(namespace && { namespace }) };
}

export interface RecordedEvent<Reason extends string = string> {
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, at most 128 characters: why. */
  readonly reason: Reason;
  /** CamelCase, at most 128 characters: what was done. */
  readonly action: string;
  /** At most 1 kB; longer is cut. */
  readonly note: string;
}

/** What is said of all Events of one reason. */
export interface EventSpec {
  readonly type: RecordedEvent['type'];
  /** The object it is about. */
  readonly on: string;
  readonly when: string;
}

export interface RecorderOptions {
  readonly client: ApiClient;
  /** `spotalis.io/controller` */
  readonly controller: string;
  /** The pod's name. */
  readonly instance: string;
  /** `limited`: too many for one object. `full`: the queue is. `failed`: the server would not take it. */
  readonly onDropped?: (why: 'limited' | 'full' | 'failed', event: RecordedEvent, error?: Error) => void;
  readonly now?: () => number;
  readonly wallMs?: () => number;
}

/** Events waiting to be written. */
const QUEUE_LIMIT = 1_000;
const NOTE_LIMIT = 1_024;
const REASON_LIMIT = 128;
/** An identical event within this time belongs to the series of the first. As client-go. */
const SERIES_IDLE_MS = 6 * 60_000;
const SERIES_LIMIT = 4_096;
const WRITE_DEADLINE_MS = 10_000;

interface Series {
  readonly namespace: string;
  readonly name: string;
  readonly count: number;
  readonly lastMs: number;
  /** A write that says the present count is already queued. */
  readonly queued: boolean;
}

interface Write {
  readonly event: RecordedEvent;
  readonly key: string;
  readonly wallMs: number;
}

/**
 * Writes Events in the background. Repetitions of one event become its `series`; the count is written as it is
 * when its turn comes, so a storm costs one write at a time. Recording never throws and never waits.
 */
export class EventRecorder<Reason extends string = string> {
  private readonly options: RecorderOptions;
  private readonly now: () => number;
  private readonly wallMs: () => number;
  private readonly limit: ObjectLimit;
  private readonly series = new Map<string, Series>();
  private readonly queue: Write[] = [];
  private writing: Promise<void> | undefined;
  private readonly stopping = new AbortController();

  constructor(options: RecorderOptions) {
    this.options = options;
    this.now = options.now ?? (() => performance.now());
    this.wallMs = options.wallMs ?? (() => Date.now());
    this.limit = new ObjectLimit(this.now);
  }

  record(event: RecordedEvent<Reason>): void {
    const key = keyOfSeries(event);
    const before = this.current(key);
    const refusal = before?.queued ? 'queued' : this.refusal(event);
    if (refusal !== undefined) {
      if (before !== undefined) {
        // Not a write of its own, but part of the count that the next one tells.
        this.remember(key, { ...before, count: before.count + 1, lastMs: this.now() });
      } else if (refusal !== 'queued') {
        this.options.onDropped?.(refusal, event);
      }
      return;
    }
    const { namespace, name } = event.regarding;
    const first: Series = {
      namespace: namespace === undefined || namespace === '' ? 'default' : namespace,
      name: `${name.slice(0, 200)}.${randomBytes(8).toString('hex')}`,
      count: 0,
      lastMs: 0,
      queued: true,
    };
    const started = before ?? first;
    this.remember(key, { ...started, count: started.count + 1, lastMs: this.now(), queued: true });
    this.queue.push({ event, key, wallMs: this.wallMs() });
    this.writing ??= this.drain();
  }

  /** Writes what is queued, for at most `deadlineMs`, and forgets the rest. */
  async stop(deadlineMs: number): Promise<void> {
    const timer = setTimeout(() => {
      this.queue.length = 0;
      this.stopping.abort();
    }, deadlineMs);
    await this.writing;
    clearTimeout(timer);
  }

  private refusal(event: RecordedEvent): 'full' | 'limited' | undefined {
    if (this.queue.length >= QUEUE_LIMIT) {
      return 'full';
    }
    // By reason, so that many of one kind do not hide the one that says how it ended.
    return this.limit.allow(`${keyOfObject(event.regarding)} ${event.reason}`) ? undefined : 'limited';
  }

  private async drain(): Promise<void> {
    // Everything recorded in this turn of the event loop counts before the first write.
    await Promise.resolve();
    for (let write = this.queue.shift(); write !== undefined; write = this.queue.shift()) {
      const series = this.series.get(write.key);
      if (series !== undefined) {
        this.series.set(write.key, { ...series, queued: false });
        await this.write(write, series);
      }
    }
    this.writing = undefined;
  }

  private async write(write: Write, series: Series): Promise<void> {
    const { client } = this.options;
    const call = { deadlineMs: WRITE_DEADLINE_MS, signal: this.stopping.signal };
    const { namespace, name, count } = series;
    const told = { count, lastObservedTime: microTime(this.wallMs()) };
    try {
      if (count === 1) {
        await client.create(events, { namespace }, this.body(write, series), {}, call);
        return;
      }
      try {
        await client.mergePatch(events, { namespace, name }, { series: told }, {}, call);
      } catch (thrown) {
        if (!(thrown instanceof ApiError && thrown.status === 404)) {
          throw thrown;
        }
        // The first write was lost, or an hour has passed and the Event with it.
        await client.create(events, { namespace }, { ...this.body(write, series), series: told }, {}, call);
      }
    } catch (thrown) {
      const error = asError(thrown);
      // A repeated create whose first answer was lost.
      if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) {
        this.options.onDropped?.('failed', write.event, error);
      }
    }
  }

  private body(write: Write, series: Series): object {
    const { event } = write;
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace: series.namespace, name: series.name },
      eventTime: microTime(write.wallMs),
      reportingController: this.options.controller,
      reportingInstance: this.options.instance.slice(0, REASON_LIMIT),
      type: event.type,
      reason: event.reason.slice(0, REASON_LIMIT),
      action: event.action.slice(0, REASON_LIMIT),
      note: cut(event.note),
      regarding: event.regarding,
      ...(event.related === undefined ? {} : { related: event.related }),
    };
  }

  private current(key: string): Series | undefined {
    const series = this.series.get(key);
    return series !== undefined && (series.queued || this.now() - series.lastMs < SERIES_IDLE_MS)
      ? series
      : undefined;
  }

  /** Most recent last; the oldest finished series makes room. */
  private remember(key: string, series: Series): void {
    this.series.delete(key);
    this.series.set(key, series);
    if (this.series.size > SERIES_LIMIT) {
      for (const [oldest, { queued }] of this.series) {
        if (!queued) {
          this.series.delete(oldest);
          break;
        }
      }
    }
  }
}

function keyOfObject(object: ObjectReference): string {
  return `${object.kind}/${object.namespace ?? ''}/${object.name}/${object.uid ?? ''}`;
}

function keyOfSeries(event: RecordedEvent): string {
  return [keyOfObject(event.regarding), event.type, event.reason, event.action, event.note].join('\n');
}

/** The limit is in bytes; cutting by code points keeps the text valid. */
function cut(note: string): string {
  if (Buffer.byteLength(note) <= NOTE_LIMIT) {
    return note;
  }
  const bytes = Buffer.from(note).subarray(0, NOTE_LIMIT - 3);
  return `${new TextDecoder().decode(bytes).replace(/\uFFFD+$/, '')}…`;
}
