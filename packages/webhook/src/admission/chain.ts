import type { JsonPatchOperation } from '@spotalis/core';
import type { ReadablePod } from '../review/pod.ts';
import type { Deadline } from './deadline.ts';
import { fieldsOf, isWithin, joinPatches } from './patch.ts';
import type { Step, StepContext, StepResult } from './step.ts';

/** A step of which nothing is in the answer. */
export interface LeftOut {
  readonly step: string;
  readonly error: unknown;
}

export interface ChainResult<R> {
  readonly operations: readonly JsonPatchOperation[];
  readonly warnings: readonly string[];
  readonly records: readonly R[];
  readonly leftOut: readonly LeftOut[];
  /** Gives back what the steps took, when the answer does not get through. */
  readonly undo: () => Promise<void>;
}

/** Thrown when a step writes a field that it did not declare. Asking again does not help: it is a fault of this program. */
class UndeclaredFieldError extends Error {
  override readonly name = 'UndeclaredFieldError';
  readonly code = 'UNDECLARED_FIELD';

  constructor(step: string, field: string) {
    super(`the step ${step} writes ${field}, which it did not declare`);
  }
}

interface Link<R> {
  readonly step: Step<R>;
  readonly declared: ReadonlySet<string>;
}

/**
 * The steps of an admission. They decide side by side and their operations become one patch, in the order of the steps.
 * A step that fails or is late is left out, and the others stand.
 */
export class Chain<R> {
  readonly #steps: readonly Link<R>[];

  /** Throws when two steps write one field. */
  constructor(steps: readonly Step<R>[]) {
    refuseSharedFields(steps);
    this.#steps = steps.map((step) => ({ step, declared: new Set(step.writes) }));
  }

  /** No module that decides at admission is on. */
  get isEmpty(): boolean {
    return this.#steps.length === 0;
  }

  /** Rejects when no step stands, with the error of the first. */
  async run(pod: ReadablePod, context: StepContext, deadline: Deadline): Promise<ChainResult<R>> {
    const answers = await Promise.all(this.#steps.map((link) => ask(link, pod, context, deadline)));
    const results = answers.flatMap((answer) => ('result' in answer ? [answer.result] : []));
    const leftOut = answers.flatMap((answer) => ('error' in answer ? [answer] : []));
    const [first] = leftOut;
    if (first !== undefined && results.length === 0) throw first.error;
    return {
      operations: joinPatches(results.map(({ operations }) => operations)),
      warnings: [...results.flatMap(({ warnings }) => warnings), ...leftOut.map(warningOf)],
      records: results.map(({ record }) => record),
      leftOut,
      undo: async () => {
        await Promise.all(results.map(({ undo }) => undo()));
      },
    };
  }
}

async function ask<R>(
  { step, declared }: Link<R>,
  pod: ReadablePod,
  context: StepContext,
  deadline: Deadline,
): Promise<{ readonly result: StepResult<R> } | LeftOut> {
  let decision: Promise<StepResult<R>> | undefined;
  try {
    decision = step.decide(pod, context, deadline);
    const result = await deadline.withGrace(decision);
    refuseUndeclared(step.name, declared, result.operations);
    return { result };
  } catch (error) {
    // A late step may still take something.
    decision?.then(({ undo }) => undo()).catch(() => undefined);
    return { step: step.name, error };
  }
}

function warningOf({ step }: LeftOut): string {
  return `spotalis: ${step} left this pod unchanged: an unexpected error, or no decision in time`;
}

function refuseSharedFields(steps: readonly Step<unknown>[]): void {
  for (const [index, one] of steps.entries()) {
    for (const other of steps.slice(index + 1)) {
      const shared = one.writes.find((mine) =>
        other.writes.some((theirs) => isWithin(mine, theirs) || isWithin(theirs, mine)),
      );
      if (shared !== undefined) {
        throw new TypeError(`the steps ${one.name} and ${other.name} both write ${shared}`);
      }
    }
  }
}

function refuseUndeclared(
  step: string,
  declared: ReadonlySet<string>,
  operations: readonly JsonPatchOperation[],
): void {
  for (const operation of operations) {
    for (const field of fieldsOf(operation)) {
      if (!isDeclared(field, declared)) throw new UndeclaredFieldError(step, field);
    }
  }
}

/** Looks at the field and at all above it: cheaper, at each admission, than to compare it with every declared one. */
function isDeclared(field: string, declared: ReadonlySet<string>): boolean {
  for (let at = field; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) if (declared.has(at)) return true;
  return false;
}
