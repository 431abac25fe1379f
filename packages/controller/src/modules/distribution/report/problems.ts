import type { PolicyProblem } from '@spotalis/core';
import type { EventRecorder, ObjectReference } from '@spotalis/kube';
import type { DistributionEvent } from './events.ts';

/**
 * Tells people what is wrong with their annotations: one Event when a problem appears. One that stays is not told
 * again; one that went and came back is.
 */
export class Problems {
  readonly #recorder: Pick<EventRecorder<DistributionEvent>, 'record'>;
  readonly #told = new Map<string, ReadonlySet<string>>();

  constructor(recorder: Pick<EventRecorder<DistributionEvent>, 'record'>) {
    this.#recorder = recorder;
  }

  tell(subject: string, regarding: ObjectReference, problems: readonly PolicyProblem[]): void {
    const before = this.#told.get(subject);
    for (const problem of problems) {
      if (before?.has(keyOf(regarding, problem))) continue;
      const note = problem.message;
      this.#recorder.record({
        regarding,
        type: 'Warning',
        reason: reasonOf(problem),
        action: 'ReadPolicy',
        note,
      });
    }
    if (problems.length === 0) this.#told.delete(subject);
    else this.#told.set(subject, new Set(problems.map((problem) => keyOf(regarding, problem))));
  }

  forget(subject: string): void {
    this.#told.delete(subject);
  }
}

/** With the UID: a workload made again under its name is another one. */
const keyOf = (regarding: ObjectReference, { code, message }: PolicyProblem): string =>
  `${regarding.uid ?? ''}\n${code}\n${message}`;

function reasonOf({ code }: PolicyProblem): DistributionEvent {
  return code === 'NoPolicy' || code === 'UnknownKey' ? code : 'InvalidPolicy';
}
