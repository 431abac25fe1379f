import {
  backOff,
  isBackingOff,
  type ResizeBackoff,
  type ResizeHold,
  type ResizeIntent,
} from '@spotalis/core';

/** Nobody asks for the pod any more. */
const FORGET_MS = 3_600_000;

/** What the API server or a kubelet said no to is asked again after a while, by pod. */
export class Backoffs {
  readonly #random: () => number;
  readonly #backoffs = new Map<string, ResizeBackoff>();

  constructor(random: () => number) {
    this.#random = random;
  }

  of(
    intent: Pick<ResizeIntent, 'pod' | 'purpose' | 'to'>,
    node: string | null,
    nowMs: number,
  ): ResizeBackoff | undefined {
    const backoff = this.#backoffs.get(keyOf(intent));
    return backoff !== undefined && isBackingOff(backoff, { node, to: intent.to }, nowMs)
      ? backoff
      : undefined;
  }

  failed(
    intent: Pick<ResizeIntent, 'pod' | 'purpose' | 'to'>,
    hold: ResizeHold,
    node: string | null,
    nowMs: number,
    leastMs?: number,
  ): ResizeBackoff {
    for (const [key, { untilMs }] of this.#backoffs)
      if (untilMs < nowMs - FORGET_MS) this.#backoffs.delete(key);
    const key = keyOf(intent);
    const failed = { hold, node, to: intent.to };
    const backoff = backOff(this.#backoffs.get(key), failed, nowMs, this.#random(), leastMs);
    this.#backoffs.set(key, backoff);
    return backoff;
  }

  /** It went well, circumstances have changed, or the pod is gone. */
  lift(podUid: string): void {
    for (const purpose of ['restore', 'size'] as const)
      this.#backoffs.delete(keyOf({ pod: { uid: podUid }, purpose }));
  }
}

/** What gives back does not wait because of what was asked for before. */
const keyOf = ({
  pod,
  purpose,
}: {
  readonly pod: { readonly uid: string };
  readonly purpose: ResizeIntent['purpose'];
}): string => (purpose === 'restore' ? `${pod.uid}/restore` : pod.uid);
