import { choice, list, map, object, text } from './field.ts';
import { anyOf, unset, when } from './rule.ts';

const LONGEST_KEY = 316;
const LONGEST_VALUE = 63;
const MOST_REQUIREMENTS = 16;

const labelValue = () =>
  text({ description: 'The value of a label.', maxLength: LONGEST_VALUE, example: 'web' });

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

/** A label selector as everywhere in Kubernetes. An empty one selects everything. */
export const labelSelector = <const D extends string>(description: D) =>
  object({
    description,
    atomic: true,
    fields: {
      matchLabels: map({
        description: 'Labels with exactly these values.',
        values: labelValue(),
        maxEntries: MOST_REQUIREMENTS,
        exampleKey: 'app',
      }),
      matchExpressions: list({
        description: 'Requirements that all hold.',
        maxItems: MOST_REQUIREMENTS,
        items: object({
          description: 'A requirement of one label.',
          fields: {
            key: text({
              description: 'The key of the label.',
              required: true,
              minLength: 1,
              maxLength: LONGEST_KEY,
              example: 'app',
            }),
            operator: choice({ description: 'What the label must do.', required: true, of: operators }),
            values: list({
              description: 'The values of In and NotIn.',
              minItems: 1,
              maxItems: MOST_REQUIREMENTS,
              items: labelValue(),
            }),
          },
          rules: [
            when('operator', ['In', 'NotIn'], anyOf(['values'], 'values: ["web"]')),
            when('operator', ['Exists', 'DoesNotExist'], unset('values')),
          ],
        }),
      }),
    },
  });
