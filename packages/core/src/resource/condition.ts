import { choice, integer, list, object, text, time } from './field.ts';
import { cutTo } from './problem.ts';

const MOST_CONDITIONS = 16;
const LONGEST_REASON = 128;
const LONGEST_MESSAGE = 1024;

/** The conditions of a status, as everywhere in Kubernetes. */
export const conditions = <const D extends string>(description: D) =>
  list({
    description,
    maxItems: MOST_CONDITIONS,
    unique: ['type'],
    items: object({
      description: 'One aspect of the state.',
      fields: {
        type: text({
          description: 'Its name.',
          required: true,
          minLength: 1,
          maxLength: 64,
          example: 'Ready',
        }),
        status: choice({
          description: 'Whether it holds.',
          required: true,
          of: ['True', 'False', 'Unknown'],
        }),
        observedGeneration: integer({
          description: 'The metadata.generation that it is about.',
          min: 0,
          max: Number.MAX_SAFE_INTEGER,
        }),
        lastTransitionTime: time({ description: 'When its status last changed.', required: true }),
        reason: text({
          description: 'Why, in one word.',
          required: true,
          minLength: 1,
          maxLength: LONGEST_REASON,
          example: 'AsExpected',
        }),
        message: text({
          description: 'Why, in a sentence.',
          required: true,
          maxLength: LONGEST_MESSAGE,
          example: 'All is well.',
        }),
      },
    }),
  });

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** What is found of one aspect now. */
export type Finding = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** The object that is looked at, and when. */
interface Look {
  /** Its metadata.generation. */
  readonly generation: number;
  readonly nowMs: number;
}

/** Kubernetes has times in whole seconds. */
const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

const byType = (one: Condition, other: Condition): number =>
  one.type < other.type ? -1 : Number(one.type > other.type);

function conditionOf(finding: Finding, before: Condition | undefined, look: Look): Condition {
  const { type, status, reason, message } = finding;
  const isAsBefore = before?.status === status;
  return {
    type,
    status,
    observedGeneration: look.generation,
    lastTransitionTime: isAsBefore ? before.lastTransitionTime : timeText(look.nowMs),
    reason: cutTo(LONGEST_REASON, reason),
    message: cutTo(LONGEST_MESSAGE, message),
  };
}

const isSame = (one: Condition, other: Condition | undefined): boolean =>
  one.type === other?.type &&
  one.status === other.status &&
  one.observedGeneration === other.observedGeneration &&
  one.lastTransitionTime === other.lastTransitionTime &&
  one.reason === other.reason &&
  one.message === other.message;

/**
 * The conditions of a status with what is found now, by type and sorted. Those of other types stay, as long as there
 * is room. Returns `present` itself where nothing changes, so that a caller sees that there is nothing to write.
 */
export function mergeConditions(
  present: readonly Condition[],
  findings: readonly Finding[],
  look: Look,
): readonly Condition[] {
  const before = new Map(present.map((each) => [each.type, each]));
  const found = new Map(
    findings.map((finding) => [finding.type, conditionOf(finding, before.get(finding.type), look)]),
  );
  const others = [...before.values()].filter(({ type }) => !found.has(type)).toSorted(byType);
  const merged = [...found.values(), ...others].slice(0, MOST_CONDITIONS).toSorted(byType);
  const isUnchanged =
    merged.length === present.length && merged.every((each, index) => isSame(each, present[index]));
  return isUnchanged ? present : merged;
}
