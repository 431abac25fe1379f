/** A value that a definition compares a field with. */
export type Literal = string | number | boolean;

type Operator = '<' | '<=' | '>' | '>=';

/**
 * What must hold between the fields of one object, named by their paths from it. One description gives the CEL rule
 * of the API server and the check of the parser, so that the two cannot differ.
 */
export type Rule<P extends string = string> =
  | OrderRule<P>
  | { readonly rule: 'anyOf'; readonly paths: readonly P[]; readonly example: string }
  | { readonly rule: 'together'; readonly paths: readonly [P, P]; readonly example: string }
  | { readonly rule: 'unset'; readonly path: P }
  | {
      readonly rule: 'when';
      readonly path: P;
      readonly values: readonly Literal[];
      readonly must: Exclude<Rule<P>, { readonly rule: 'when' }>;
    };

export interface OrderRule<P extends string = string> {
  readonly rule: 'order';
  readonly left: P;
  readonly operator: Operator;
  readonly right: { readonly path: P } | { readonly literal: Literal };
  /** A value of `left` that holds. */
  readonly example: Literal;
}

/** `left` stands in this order to another field. Holds where either is absent. */
export function ordered<const P extends string>(
  left: P,
  operator: Operator,
  right: P,
  example: Literal,
): Rule<P> {
  return { rule: 'order', left, operator, right: { path: right }, example };
}

/** `left` stands in this order to a value. Of use inside of `when`; a field has bounds of its own. */
export function bounded<const P extends string>(
  left: P,
  operator: Operator,
  literal: Literal,
  example: Literal,
): Exclude<Rule<P>, { readonly rule: 'when' }> {
  return { rule: 'order', left, operator, right: { literal }, example };
}

type Plain<P extends string> = Exclude<Rule<P>, { readonly rule: 'when' }>;

/** At least one is there. */
export const anyOf = <const P extends string>(paths: readonly P[], example: string): Plain<P> => ({
  rule: 'anyOf',
  paths,
  example,
});

/** Both are there, or neither. */
export const together = <const P extends string>(
  one: P,
  other: NoInfer<P> | P,
  example: string,
): Plain<P> => ({
  rule: 'together',
  paths: [one, other],
  example,
});

export const unset = <const P extends string>(path: P): Plain<P> => ({ rule: 'unset', path });

/** The rule holds where the field at `path` has one of these values. */
export const when = <const P extends string, const Q extends string>(
  path: P,
  values: readonly Literal[],
  must: Plain<Q>,
): Rule<P | Q> => ({ rule: 'when', path, values, must });
