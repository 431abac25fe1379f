import { describe, expect, it } from '@jest/globals';
import { readValues, valuesSchema } from './chart-values.mjs';

const text = `# How many.
replicas: 3

image:
  # Whose.
  # Two lines.
  tag: ''
  # @schema {"enum":["a","b"]}
  # One of two.
  policy: a

# Sums.
resources: { limits: { cpu: 1 } }
`;

describe('the values of a chart', () => {
  it('are read with their comments', () => {
    expect(readValues(text)).toEqual([
      { path: ['replicas'], value: 3, description: 'How many.', schema: undefined },
      { path: ['image', 'tag'], value: '', description: 'Whose. Two lines.', schema: undefined },
      { path: ['image', 'policy'], value: 'a', description: 'One of two.', schema: { enum: ['a', 'b'] } },
      { path: ['resources'], value: { limits: { cpu: 1 } }, description: 'Sums.', schema: undefined },
    ]);
  });

  it('make a schema that knows no other keys', () => {
    const schema = JSON.parse(valuesSchema(readValues(text), [], ['sub'], {}));
    expect(schema).toMatchObject({
      additionalProperties: false,
      properties: {
        replicas: { type: 'integer' },
        image: { additionalProperties: false, properties: { policy: { enum: ['a', 'b'] } } },
        resources: { type: 'object' },
        sub: { type: 'object' },
      },
    });
  });
});
