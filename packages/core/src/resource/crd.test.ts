import { describe, expect, it } from '@jest/globals';
import { toy } from '../testing/toy.ts';
import { crdOf } from './crd.ts';
import { flag, object } from './field.ts';
import { resourceReference } from './reference.ts';

type Json = Readonly<Record<string, unknown>>;

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Every schema of a CRD with the name of its field. */
function* schemasIn(value: unknown, name: string): Generator<readonly [string, Json]> {
  if (!isJson(value)) return;
  if ('type' in value || 'x-kubernetes-int-or-string' in value) yield [name, value];
  for (const [inner, schema] of Object.entries(isJson(value['properties']) ? value['properties'] : {}))
    yield* schemasIn(schema, `${name}.${inner}`);
  yield* schemasIn(value['items'], `${name}[]`);
  yield* schemasIn(value['additionalProperties'], `${name}.*`);
}

const schemaOf = (definition: Parameters<typeof crdOf>[0]) => {
  const { spec } = crdOf(definition) as unknown as {
    spec: { versions: [{ schema: { openAPIV3Schema: { properties: Json } } }] };
  };
  return spec.versions[0].schema.openAPIV3Schema;
};

describe('the CRD of a definition', () => {
  it('bounds whatever has a size, since the cost of rules is estimated by it', () => {
    const unbounded = [...schemasIn(schemaOf(toy).properties['spec'], 'spec')].filter(([, schema]) => {
      if (schema['type'] === 'array') return schema['maxItems'] === undefined;
      if ('additionalProperties' in schema) return schema['maxProperties'] === undefined;
      const isText = schema['type'] === 'string' || 'x-kubernetes-int-or-string' in schema;
      return isText && ['maxLength', 'enum', 'format'].every((bound) => schema[bound] === undefined);
    });
    expect(unbounded.map(([name]) => name)).toEqual([]);
  });

  it('needs a spec only where something in it is required', () => {
    const fields = { one: flag({ description: 'One.', default: true }) };
    const optional = schemaOf({ ...toy, columns: [], spec: object({ description: 'Optional.', fields }) });
    expect(optional).not.toHaveProperty('required');
    expect(optional).toHaveProperty('properties.spec.default', { one: true });
    expect(schemaOf(toy)).toMatchObject({ required: ['spec'] });
    expect(schemaOf(toy)).not.toHaveProperty('properties.spec.default');
  });

  it('has no spec where the resource only reports', () => {
    const silent = { ...toy, columns: [], spec: object({ description: 'Nothing.', fields: {} }) };
    expect(schemaOf(silent)).not.toHaveProperty('properties.spec');
    expect(resourceReference(silent, String)).not.toContain('## Spec');
  });

  it('shows values in messages, and words alone where a value cannot be shown', () => {
    expect(schemaOf(toy)).toHaveProperty('properties.spec.properties.drain.x-kubernetes-validations.0', {
      rule: 'duration(self.forceAfter) <= duration(self.timeout)',
      message: 'forceAfter must be at most timeout. Example: "5m"',
      messageExpression: `'"' + self.forceAfter + '" is not at most timeout, which is "' + self.timeout + '". Example: "5m"'`,
      fieldPath: '.forceAfter',
    });
  });
});

describe('the reference page of a definition', () => {
  const page = resourceReference(toy, JSON.stringify);

  it('has every field of spec and status, and an example', () => {
    const names = [...schemasIn(schemaOf(toy), '')].map(([name]) => name.slice(1));
    const own = names.filter((name) => /^(?:spec|status)\../.test(name) && !/(?:\[\]|\*)$/.test(name));
    expect(own.length).toBeGreaterThan(40);
    for (const name of own) expect(page).toContain(`| \`${name}\` |`);
    expect(page).toContain('"kind":"ToyPolicy"');
  });

  it('says the rules in words', () => {
    expect(page).toContain('- In `spec.drain`, forceAfter must be at most timeout.');
    expect(page).toContain('- In `spec`, while mode is "Off", namespace must not be set.');
  });
});
