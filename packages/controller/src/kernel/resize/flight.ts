import type { Resources, ResizeHold, ResizeIntent, ResizeProgress } from '@spotalis/core';

/** What became of a resize. */
export type ResizeAnswer =
  /** The kubelet has applied it. `left`: why the rest of it waits; it is asked for again where `isWhole` is false. */
  | { readonly kind: 'resized'; readonly isWhole: boolean; readonly left: ResizeHold | null }
  /** Nothing was changed. `untilMs`: not before that, where time alone helps. */
  | { readonly kind: 'held'; readonly hold: ResizeHold; readonly untilMs: number | null }
  /** The kubelet could not, so the pod asks for what it had before. */
  | { readonly kind: 'takenBack'; readonly hold: ResizeHold; readonly untilMs: number }
  | { readonly kind: 'gone' }
  /** Another resize of the pod is under way. */
  | { readonly kind: 'busy'; readonly state: ResizeState }
  /** Withdrawn, overtaken by what gives back, or no longer this leader's. The pod shows how far it came. */
  | { readonly kind: 'dropped' };

/** How far a resize is. */
export interface ResizeState {
  readonly intent: Asked;
  readonly phase: 'waiting' | 'sending' | 'verifying' | 'takingBack';
  readonly sinceMs: number;
  /** What the pod's status said last. */
  readonly progress: ResizeProgress | null;
}

/** Of an intent only what it takes: what a predecessor left behind has no more. */
export type Asked = Pick<ResizeIntent, 'id' | 'module' | 'purpose' | 'pod' | 'to' | 'remember' | 'forget'> & {
  readonly workload: Pick<ResizeIntent['workload'], 'namespace'>;
};

/** A resize from its asking to its end. */
export class Flight {
  readonly intent: Asked;
  readonly #ending = new AbortController();
  state: ResizeState;
  /** What it takes of its node beyond what the pod had before. */
  claim: { readonly node: string; readonly room: Resources } | null = null;
  answer: Promise<ResizeAnswer> = Promise.resolve({ kind: 'dropped' });

  constructor(intent: Asked, nowMs: number) {
    this.intent = intent;
    this.state = { intent, phase: 'waiting', sinceMs: nowMs, progress: null };
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  enter(phase: ResizeState['phase'], nowMs: number): void {
    this.state = { ...this.state, phase, sinceMs: nowMs };
  }

  drop(): void {
    this.#ending.abort();
  }
}
