import type { Duration, Percentage, Quantity } from './amount.ts';
import type { Rule } from './rule.ts';

/** What every field says of itself. A field is required, has a default, or may be absent. */
interface Common {
  /** One or two sentences for `kubectl explain` and the reference page. */
  readonly description: string;
  readonly required?: true;
}

/** A form of text that CEL checks by a pattern. */
export interface TextForm {
  /** Anchored, and read alike by JavaScript and RE2: no look-around, no back-references, no `\s` and no `\w`. */
  readonly pattern: string;
  /** Completes "is not ...". */
  readonly expected: string;
}

interface TextOptions extends Common {
  readonly default?: string;
  /** The API server needs it to estimate the cost of rules. */
  readonly maxLength: number;
  readonly minLength?: number;
  readonly form?: TextForm;
  /** What only the parser can check, such as a time zone. The API server accepts these texts. */
  readonly accepts?: (text: string) => boolean;
  readonly example: string;
}

interface ChoiceOptions extends Common {
  readonly default?: string;
  readonly of: readonly string[];
}

interface IntegerOptions extends Common {
  readonly default?: number;
  readonly min: number;
  /** The largest int32 unless set. */
  readonly max?: number;
  readonly example?: number;
}

interface NumberOptions extends Common {
  readonly default?: number;
  readonly min?: number;
  /** An exclusive minimum. */
  readonly above?: number;
  readonly max?: number;
  readonly example: number;
}

interface FlagOptions extends Common {
  readonly default?: boolean;
}

interface AmountOptions<T> extends Common {
  readonly default?: T;
  readonly min?: T;
  readonly max?: T;
  readonly example: T;
}

interface CountOrPercentageOptions extends Common {
  readonly default?: number | Percentage;
  /** Of the count; above 0 it excludes 0% as well. */
  readonly min: number;
  readonly max: number;
  readonly example: number | Percentage;
}

interface ListOptions extends Common {
  readonly default?: readonly unknown[];
  readonly items: Field;
  /** The API server needs it to estimate the cost of rules. */
  readonly maxItems: number;
  readonly minItems?: number;
  /** `set`: no value twice. Names of fields: no two items have all of them in common. Absent: replaced as a whole. */
  readonly unique?: 'set' | readonly [string, ...string[]];
}

interface MapOptions extends Common {
  readonly default?: Readonly<Record<string, unknown>>;
  readonly values: Field;
  readonly maxEntries: number;
  readonly exampleKey: string;
}

export type Fields = Readonly<Record<string, Field>>;

interface ObjectOptions extends Common {
  /** `{}` gives an absent object the defaults of its fields. */
  readonly default?: Readonly<Record<string, unknown>>;
  readonly fields: Fields;
  readonly rules?: readonly Rule[];
  /** Server-side apply replaces it as a whole, as it does with label selectors. */
  readonly atomic?: true;
}

type Typed<T extends string, Options> = { readonly type: T } & Options;

export type AmountField =
  | Typed<'duration', AmountOptions<Duration>>
  | Typed<'quantity', AmountOptions<Quantity>>
  | Typed<'percentage', AmountOptions<Percentage>>;
export type ListField = Typed<'list', ListOptions>;
export type MapField = Typed<'map', MapOptions>;
export type ObjectField = Typed<'object', ObjectOptions>;

export type Field =
  | Typed<'text', TextOptions>
  | Typed<'choice', ChoiceOptions>
  | Typed<'integer', IntegerOptions>
  | Typed<'number', NumberOptions>
  | Typed<'flag', FlagOptions>
  | Typed<'time', Common>
  | AmountField
  | Typed<'countOrPercentage', CountOrPercentageOptions>
  | ListField
  | MapField
  | ObjectField;

export type FieldOf<T extends Field['type']> = Extract<Field, { readonly type: T }>;

/** Refuses options that the field does not have: an inferred type would let a typo pass. */
type NoOther<O, Options> = Readonly<Record<Exclude<keyof O, keyof Options>, never>>;

const constructor =
  <T extends Field['type'], Options>(type: T) =>
  <const O extends Options>(options: O & NoOther<O, Options>): Typed<T, O> => ({ type, ...options });

export const text = constructor<'text', TextOptions>('text');
/** One of a few words. A word that this version does not know comes from a newer one. */
export const choice = constructor<'choice', ChoiceOptions>('choice');
export const integer = constructor<'integer', IntegerOptions>('integer');
export const number = constructor<'number', NumberOptions>('number');
export const flag = constructor<'flag', FlagOptions>('flag');
/** An RFC 3339 time, as Kubernetes writes them. */
export const time = constructor<'time', Common>('time');
export const duration = constructor<'duration', AmountOptions<Duration>>('duration');
export const quantity = constructor<'quantity', AmountOptions<Quantity>>('quantity');
export const percentage = constructor<'percentage', AmountOptions<Percentage>>('percentage');
export const countOrPercentage = constructor<'countOrPercentage', CountOrPercentageOptions>(
  'countOrPercentage',
);
export const list = constructor<'list', ListOptions>('list');
export const map = constructor<'map', MapOptions>('map');

export function object<const F extends Fields, const O extends Omit<ObjectOptions, 'fields' | 'rules'>>(
  options: { readonly fields: F; readonly rules?: readonly Rule<PathOf<F>>[] } & O &
    NoOther<O, ObjectOptions>,
): Typed<'object', { readonly fields: F } & O> {
  return { type: 'object', ...options };
}

/** What the parser returns for a field, and what a status holds. */
export type ValueOf<F> = Field extends F ? unknown : KnownValueOf<F>;

type KnownValueOf<F> = F extends { readonly type: 'choice'; readonly of: readonly (infer V)[] }
  ? V
  : F extends { readonly type: 'text' | 'time' }
    ? string
    : F extends { readonly type: 'integer' | 'number' }
      ? number
      : F extends { readonly type: 'flag' }
        ? boolean
        : F extends { readonly type: 'duration' }
          ? Duration
          : F extends { readonly type: 'quantity' }
            ? Quantity
            : F extends { readonly type: 'percentage' }
              ? Percentage
              : F extends { readonly type: 'countOrPercentage' }
                ? number | Percentage
                : F extends { readonly type: 'list'; readonly items: infer I }
                  ? readonly ValueOf<I>[]
                  : F extends { readonly type: 'map'; readonly values: infer V }
                    ? Readonly<Record<string, ValueOf<V>>>
                    : F extends { readonly type: 'object'; readonly fields: infer G }
                      ? ObjectOf<G>
                      : never;

type Present = { readonly required: true } | { readonly default: unknown };
type PresentKeys<G> = { [K in keyof G]: G[K] extends Present ? K : never }[keyof G];

type ObjectOf<G> = { readonly [K in PresentKeys<G>]: ValueOf<G[K]> } & {
  readonly [K in Exclude<keyof G, PresentKeys<G>>]?: ValueOf<G[K]>;
};

/** The fields of an object and of the objects in it, as `drain.timeout`. Does not look into lists and maps. */
export type PathOf<G> = {
  [K in keyof G & string]: G[K] extends { readonly type: 'object'; readonly fields: infer H }
    ? K | `${K}.${PathOf<H>}`
    : K;
}[keyof G & string];

/** The field at a path, and whether each step on the way may be absent. */
export interface Step {
  readonly name: string;
  readonly field: Field;
}

export function stepsTo(fields: Fields, path: string): readonly Step[] {
  const steps: Step[] = [];
  let inside: Fields = fields;
  for (const name of path.split('.')) {
    const field = inside[name];
    if (field === undefined) throw new TypeError(`no field ${name} on the path ${path}`);
    steps.push({ name, field });
    inside = field.type === 'object' ? field.fields : {};
  }
  return steps;
}

/** Whether a field always has a value once defaults are applied and what is required is there. */
export const isAlwaysSet = (field: Field): boolean =>
  field.required === true || ('default' in field && field.default !== undefined);
