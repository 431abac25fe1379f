import type { Refusal } from '@spotalis/core';
import { Pauses } from '../../../kernel/pauses.ts';

export interface RefusedAnnotation {
  readonly pod: string;
  /** In the words of the API server. */
  readonly message: string;
}

/** Workloads on whose pods the API server let nothing be written. They are tried again after a while. */
export class RefusedAnnotations {
  readonly #refusals = new Map<string, Refusal>();
  readonly #pauses: Pauses;

  constructor(random: () => number) {
    this.#pauses = new Pauses(random);
  }

  of(workloadUid: string, nowMs: number): Refusal | null {
    const refusal = this.#refusals.get(workloadUid);
    return refusal === undefined || refusal.untilMs <= nowMs ? null : refusal;
  }

  refused(workloadUid: string, { pod, message }: RefusedAnnotation, nowMs: number): void {
    this.#refusals.set(workloadUid, {
      reason: 'AnnotationRefused',
      message: `Pod ${pod} cannot be annotated with its capacity type and deletion cost: ${message}`,
      untilMs: nowMs + this.#pauses.next(workloadUid),
    });
  }

  /** It went well, or nobody asks any more. */
  forget(workloadUid: string): void {
    this.#refusals.delete(workloadUid);
    this.#pauses.forget(workloadUid);
  }
}
