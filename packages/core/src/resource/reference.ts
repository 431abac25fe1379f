import { constraintOf } from './constraint.ts';
import { apiVersion, type ResourceDefinition } from './definition.ts';
import { exampleObject } from './faults.ts';
import type { Field, ObjectField } from './field.ts';
import { LARGEST_INT32 } from './wording.ts';

interface Row {
  readonly path: string;
  readonly field: Field;
}

function* rowsOf(path: string, field: Field): Generator<Row> {
  yield { path, field };
  if (field.type === 'list') yield* partsOf(`${path}[]`, field.items);
  else if (field.type === 'map') yield* partsOf(`${path}.*`, field.values);
  else yield* partsOf(path, field);
}

function* partsOf(path: string, field: Field): Generator<Row> {
  if (field.type !== 'object') return;
  for (const [name, inner] of Object.entries(field.fields)) yield* rowsOf(`${path}.${name}`, inner);
}

const code = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

type Limit = string | number | undefined;

const limits = (least: Limit, most: Limit): string => {
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}`;
  if (least !== undefined) return `, at least ${least}`;
  return most === undefined ? '' : `, at most ${most}`;
};

function typeText(field: Field): string {
  switch (field.type) {
    case 'text':
      return `text${limits(field.minLength, field.maxLength)} characters${field.form ? `: ${field.form.expected}` : ''}`;
    case 'choice':
      return field.of.map(code).join(', ');
    case 'integer':
      return `integer${limits(field.min, field.max === LARGEST_INT32 ? undefined : field.max)}`;
    case 'number':
      return `number${field.above === undefined ? limits(field.min, field.max) : `, above ${field.above}`}`;
    case 'flag':
      return 'boolean';
    case 'duration':
    case 'quantity':
    case 'percentage':
      return `${field.type}${limits(field.min, field.max)}`;
    case 'countOrPercentage':
      return `integer${limits(field.min, field.max)}, or percentage`;
    case 'list':
      return `list${limits(field.minItems, field.maxItems)} items, each: ${typeText(field.items)}`;
    case 'map':
      return `map, at most ${field.maxEntries} entries, each: ${typeText(field.values)}`;
    case 'time':
    case 'object':
      return field.type;
    default:
      return field satisfies never;
  }
}

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`);

function defaultText(field: Field): string {
  if (field.required) return 'required';
  return 'default' in field && field.default !== undefined ? code(field.default) : '';
}

function table(root: string, field: ObjectField): string {
  const rows = [...partsOf(root, field)].map(
    ({ path, field: each }) =>
      `| \`${path}\` | ${cell(typeText(each))} | ${cell(defaultText(each))} | ${cell(each.description)} |`,
  );
  return ['| Field | Type | Default | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}

function rulesOf(path: string, field: Field): readonly string[] {
  if (field.type === 'list') return rulesOf(`${path}[]`, field.items);
  if (field.type !== 'object') return [];
  const own = (field.rules ?? []).map(
    (rule) => `- In \`${path}\`, ${constraintOf(field.fields, rule).demand}.`,
  );
  return [
    ...own,
    ...Object.entries(field.fields).flatMap(([name, inner]) => rulesOf(`${path}.${name}`, inner)),
  ];
}

/**
 * The page of a resource. `print` writes YAML: this package has no library for it.
 */
export function resourceReference(definition: ResourceDefinition, print: (value: unknown) => string): string {
  const { kind, plural, shortNames, scope, description, spec, status } = definition;
  const names = [plural, ...shortNames].map((name) => `\`kubectl get ${name}\``).join(', ');
  const hasSpec = Object.keys(spec.fields).length > 0;
  const rules = rulesOf('spec', spec);
  const parts = [
    `# ${kind}`,
    '<!-- Written by scripts/generate-docs.mjs from the definition of the resource. Change it there. -->',
    description,
    `\`${apiVersion}\`, ${scope === 'Cluster' ? 'cluster-scoped' : 'namespaced'}. ${names}, or \`kubectl get spotalis\` with all other resources of Spotalis.`,
    ...(hasSpec
      ? [
          `An example with every field set:\n\n\`\`\`yaml\n${print(exampleObject(definition)).trimEnd()}\n\`\`\``,
          `## Spec\n\n${table('spec', spec)}`,
        ]
      : []),
    ...(rules.length > 0
      ? [`## Rules\n\nThe API server refuses an object unless all of these hold.\n\n${rules.join('\n')}`]
      : []),
    `## Status\n\n${table('status', status)}`,
  ];
  return `${parts.join('\n\n')}\n`;
}
