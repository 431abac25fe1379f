import { type AmountType, celOrder, formOf, LARGEST_QUANTITY } from './amount.ts';
import { celAmount, celPath, celString, celText, constraintOf, isQuoted, type Part } from './constraint.ts';
import { apiGroup, type Column, needsSpec, type ResourceDefinition, versionName } from './definition.ts';
import { type Field, type FieldOf, type Fields, type ObjectField, stepsTo } from './field.ts';
import { LONGEST_SHOWN } from './problem.ts';
import { LARGEST_INT32, leastPercentage, refusalOf } from './wording.ts';

type Json = Readonly<Record<string, unknown>>;

interface Validation {
  readonly rule: string;
  /** For servers and values that the expression has no words for: a message is one line. */
  readonly message: string;
  readonly messageExpression?: string;
  readonly fieldPath?: string;
}

/** A string of any length as CEL shows it. */
const celCut = (text: string): string =>
  `(size(${text}) > ${LONGEST_SHOWN} ? ${text}.substring(0, ${LONGEST_SHOWN}) + '...' : ${text})`;

/** The pieces of a message as one expression; neighbouring words become one text. */
function celMessage(parts: readonly Part[]): string {
  const terms: string[] = [];
  let words = '';
  const flush = () => {
    if (words !== '') terms.push(celText(words));
    words = '';
  };
  for (const part of parts) {
    if (typeof part === 'string') {
      words += part;
      continue;
    }
    const quote = isQuoted(part.field) ? '"' : '';
    words += quote;
    flush();
    terms.push(celString(part.field, celPath(part.path)));
    words = quote;
  }
  flush();
  return terms.join(' + ');
}

function validationsOf({ fields, rules = [] }: ObjectField): readonly Validation[] {
  return rules.map((rule) => {
    const { cel, demand, parts, example, path } = constraintOf(fields, rule);
    const tail = `. ${example}`;
    return {
      rule: cel,
      message: demand + tail,
      messageExpression: celMessage([...parts, tail]),
      ...(path !== null && { fieldPath: `.${path}` }),
    };
  });
}

/** A check of one value, whose message shows it. */
function scalarValidation(field: Field, rule: string, shown: string): Json {
  const refusal = refusalOf(field);
  const messageExpression = `'"' + ${shown} + ${celText(`" ${refusal}`)}`;
  return { 'x-kubernetes-validations': [{ rule, message: refusal, messageExpression }] };
}

function amountSchema(field: FieldOf<AmountType>): Json {
  const { pattern, longest, cel } = formOf(field.type);
  const isQuantity = field.type === 'quantity';
  const self = celString(field, 'self');
  const max = field.max ?? (isQuantity ? LARGEST_QUANTITY : undefined);
  const bound = (operator: string, limit: string | number | undefined): string[] =>
    limit === undefined
      ? []
      : [celOrder(field.type, cel(self), operator, celAmount(field.type, String(limit)))];
  const rule = [`${self}.matches(${celText(pattern)})`, ...bound('>=', field.min), ...bound('<=', max)];
  return {
    ...(isQuantity ? { 'x-kubernetes-int-or-string': true } : { type: 'string' }),
    maxLength: longest,
    ...scalarValidation(field, rule.join(' && '), self),
  };
}

function countOrPercentageSchema(field: FieldOf<'countOrPercentage'>): Json {
  const { pattern, longest } = formOf('percentage');
  const least = leastPercentage(field) === '1%' ? " && self != '0%'" : '';
  const rule = `type(self) == int ? self >= ${field.min} && self <= ${field.max} : self.matches(${celText(pattern)})${least}`;
  return {
    'x-kubernetes-int-or-string': true,
    maxLength: longest,
    ...scalarValidation(field, rule, celString(field, 'self')),
  };
}

function textSchema(field: FieldOf<'text'>): Json {
  const { minLength, maxLength, form } = field;
  return {
    type: 'string',
    ...(minLength !== undefined && { minLength }),
    maxLength,
    ...(form && scalarValidation(field, `self.matches(${celText(form.pattern)})`, shownText(maxLength))),
  };
}

const shownText = (maxLength: number): string => (maxLength > LONGEST_SHOWN ? celCut('self') : 'self');

function integerSchema({ min, max = LARGEST_INT32 }: FieldOf<'integer'>): Json {
  return {
    type: 'integer',
    format: max > LARGEST_INT32 ? 'int64' : 'int32',
    minimum: min,
    maximum: max,
  };
}

function numberSchema({ min, above, max }: FieldOf<'number'>): Json {
  return {
    type: 'number',
    ...(min !== undefined && { minimum: min }),
    ...(above !== undefined && { minimum: above, exclusiveMinimum: true }),
    ...(max !== undefined && { maximum: max }),
  };
}

function listSchema({ items, maxItems, minItems, unique }: FieldOf<'list'>): Json {
  const isSet = unique === 'set';
  return {
    type: 'array',
    ...(minItems !== undefined && { minItems }),
    maxItems,
    ...(unique === undefined && { 'x-kubernetes-list-type': 'atomic' }),
    ...(isSet && { 'x-kubernetes-list-type': 'set' }),
    ...(unique !== undefined &&
      !isSet && { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': unique }),
    items: schemaOf(items),
  };
}

function objectSchema(field: ObjectField): Json {
  const entries = Object.entries(field.fields);
  const required = entries.flatMap(([name, inner]) => (inner.required ? [name] : []));
  const validations = validationsOf(field);
  return {
    type: 'object',
    ...(field.atomic && { 'x-kubernetes-map-type': 'atomic' }),
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(entries.map(([name, inner]) => [name, schemaOf(inner)])),
    ...(validations.length > 0 && { 'x-kubernetes-validations': validations }),
  };
}

function typeSchema(field: Field): Json {
  switch (field.type) {
    case 'text':
      return textSchema(field);
    case 'choice':
      return { type: 'string', enum: field.of };
    case 'integer':
      return integerSchema(field);
    case 'number':
      return numberSchema(field);
    case 'flag':
      return { type: 'boolean' };
    case 'time':
      return { type: 'string', format: 'date-time' };
    case 'duration':
    case 'quantity':
    case 'percentage':
      return amountSchema(field);
    case 'countOrPercentage':
      return countOrPercentageSchema(field);
    case 'list':
      return listSchema(field);
    case 'map':
      return {
        type: 'object',
        maxProperties: field.maxEntries,
        additionalProperties: schemaOf(field.values),
      };
    case 'object':
      return objectSchema(field);
    default:
      return field satisfies never;
  }
}

/** A default with those of its parts: the API server checks the rules of an object on its default as it is written. */
function filled(field: Field, value: unknown): unknown {
  if (field.type === 'list' && Array.isArray(value)) return value.map((item) => filled(field.items, item));
  if (field.type !== 'object' || typeof value !== 'object' || value === null) return value;
  const given = new Map<string, unknown>(Object.entries(value));
  const entries = Object.entries(field.fields).flatMap(([name, inner]) => {
    const part = given.get(name) ?? defaultOf(inner);
    return part === undefined ? [] : [[name, filled(inner, part)]];
  });
  return Object.fromEntries(entries);
}

const defaultOf = (field: Field): unknown => ('default' in field ? field.default : undefined);

function schemaOf(field: Field): Json {
  const value = defaultOf(field);
  return {
    description: field.description,
    ...(value !== undefined && { default: filled(field, value) }),
    ...typeSchema(field),
  };
}

/** Types of columns, where they are not strings. */
const columnTypes: Readonly<Partial<Record<Field['type'], string>>> = {
  integer: 'integer',
  number: 'number',
  flag: 'boolean',
  time: 'date',
};

function columnOf(fields: Fields, column: Column): Json {
  const { name, wide } = column;
  const priority = wide ? { priority: 1 } : {};
  if ('condition' in column) {
    const jsonPath = `.status.conditions[?(@.type=="${column.condition}")].status`;
    return { name, type: 'string', jsonPath, ...priority };
  }
  const field = stepsTo(fields, column.path).at(-1)?.field;
  if (field === undefined) throw new TypeError(`the column ${name} has no field`);
  return {
    name,
    type: columnTypes[field.type] ?? 'string',
    description: field.description,
    jsonPath: `.${column.path}`,
    ...priority,
  };
}

function rootSchema(definition: ResourceDefinition): Json {
  const { description, spec, status } = definition;
  const isNeeded = needsSpec(definition);
  const hasSpec = Object.keys(spec.fields).length > 0;
  return {
    description,
    type: 'object',
    ...(isNeeded && { required: ['spec'] }),
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...(hasSpec && { spec: { ...schemaOf(spec), ...(!isNeeded && { default: filled(spec, {}) }) } }),
      status: schemaOf(status),
    },
  };
}

/** The CustomResourceDefinition. */
export function crdOf(definition: ResourceDefinition): Json {
  const { kind, plural, shortNames, scope, columns, spec, status } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${apiGroup}` },
    spec: {
      group: apiGroup,
      scope,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames,
        categories: ['spotalis'],
      },
      versions: [
        {
          name: versionName,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [
            ...columns.map((column) => columnOf({ spec, status }, column)),
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          schema: { openAPIV3Schema: rootSchema(definition) },
        },
      ],
    },
  };
}
