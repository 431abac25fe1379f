import { conditions } from '../resource/condition.ts';
import { defineResource } from '../resource/definition.ts';
import {
  choice,
  countOrPercentage,
  duration,
  flag,
  integer,
  list,
  map,
  number,
  object,
  percentage,
  quantity,
  text,
  time,
} from '../resource/field.ts';
import { anyOf, bounded, ordered, together, unset, when } from '../resource/rule.ts';
import { labelSelector } from '../resource/selector.ts';

const bound = (description: string, example: '100m' | '2') =>
  quantity({ description, required: true, min: '1m', example });

/** A resource with a field of every type and a rule of every kind. No module has it. */
export const toy = defineResource({
  kind: 'ToyPolicy',
  plural: 'toypolicies',
  shortNames: ['toy'],
  scope: 'Namespaced',
  description: 'A resource that exists in tests only.',
  columns: [
    { name: 'Mode', path: 'spec.mode' },
    { name: 'Weight', path: 'spec.weight' },
    { name: 'DryRun', path: 'spec.dryRun' },
    { name: 'Timeout', path: 'spec.drain.timeout', wide: true },
    { name: 'Nodes', path: 'status.nodes' },
    { name: 'Checked', path: 'status.lastCheckTime' },
    { name: 'Ready', condition: 'Ready' },
  ],
  spec: object({
    description: 'What is wanted.',
    fields: {
      mode: choice({
        description: 'How far it goes.',
        of: ['Observe', 'Auto', 'Off'],
        default: 'Observe',
      }),
      weight: integer({ description: 'The highest weight wins.', min: 1, max: 1000, default: 100 }),
      factor: number({ description: 'Multiplies the result.', min: 1, max: 10, default: 1.2, example: 1.5 }),
      target: number({ description: 'Above it a signal is breached.', above: 0, example: 250 }),
      dryRun: flag({ description: 'Changes nothing.', default: true }),
      title: text({
        description: 'A name for people.',
        maxLength: 20,
        minLength: 1,
        example: 'night shift',
      }),
      zone: text({
        description: 'Where the schedule is read.',
        maxLength: 100,
        form: { pattern: '^[A-Z][A-Za-z_/+-]*$', expected: 'a time zone' },
        accepts: (name) => Intl.supportedValuesOf('timeZone').includes(name),
        example: 'Europe/Berlin',
      }),
      bounds: object({
        description: 'The least and the most.',
        required: true,
        fields: {
          cpu: object({
            description: 'Of CPU.',
            required: true,
            fields: {
              min: bound('The least.', '100m'),
              max: bound('The most.', '2'),
            },
            rules: [ordered('min', '<=', 'max', '100m')],
          }),
        },
      }),
      maxLimit: quantity({ description: 'No limit is above.', max: '64Gi', example: '8Gi' }),
      window: duration({
        description: 'The time looked at.',
        min: '6m',
        max: '1h',
        default: '10m',
        example: '30m',
      }),
      notBefore: time({ description: 'Nothing begins before.' }),
      drain: object({
        description: 'How pods leave.',
        default: {},
        fields: {
          timeout: duration({ description: 'The longest time.', default: '15m', example: '15m' }),
          forceAfter: duration({ description: 'Then PDBs are ignored.', default: '0s', example: '5m' }),
          surge: flag({ description: 'A place is proven first.', default: false }),
        },
        rules: [
          ordered('forceAfter', '<=', 'timeout', '5m'),
          when('surge', [true], bounded('timeout', '>=', '10m', '10m')),
        ],
      }),
      maxPods: percentage({ description: 'Of a workload.', min: '1%', default: '25%', example: '25%' }),
      maxConcurrent: countOrPercentage({
        description: 'At once.',
        min: 1,
        max: 1000,
        default: 1,
        example: '10%',
      }),
      throttled: integer({ description: 'From here on throttled.', min: 0, max: 100, default: 2 }),
      greedy: integer({ description: 'From here on greedy.', min: 0, max: 100, default: 50 }),
      schedule: text({ description: 'When it may begin.', maxLength: 100, example: '0 22 * * *' }),
      length: duration({ description: 'How long it may begin.', example: '4h' }),
      searchTerms: list({
        description: 'Literal texts.',
        maxItems: 3,
        unique: 'set',
        default: [],
        items: text({ description: 'One text.', minLength: 1, maxLength: 64, example: 'sandbox' }),
      }),
      matchers: list({
        description: 'What is looked for.',
        maxItems: 16,
        unique: ['name'],
        items: object({
          description: 'One pattern.',
          fields: {
            name: text({ description: 'Its name.', required: true, maxLength: 32, example: 'sandbox' }),
            reason: text({ description: 'A reason.', maxLength: 64, example: 'FailedMount' }),
            message: text({ description: 'A message.', maxLength: 256, example: 'no route' }),
            kinds: list({
              description: 'Of what.',
              maxItems: 2,
              default: ['Pod'],
              items: choice({ description: 'A kind.', of: ['Pod', 'Node'] }),
            }),
          },
          rules: [anyOf(['reason', 'message'], 'reason: FailedMount')],
        }),
      }),
      weights: map({
        description: 'Weights by name.',
        maxEntries: 3,
        exampleKey: 'web',
        values: integer({ description: 'A weight.', min: 0, max: 10 }),
      }),
      // A word of CEL, which has to be escaped there.
      namespace: text({ description: 'Only this one.', maxLength: 63, example: 'shop' }),
      nodeSelector: labelSelector('Which nodes. Absent: all.'),
    },
    rules: [
      ordered('throttled', '<', 'greedy', 2),
      together('schedule', 'length', 'schedule: 0 22 * * *, length: 4h'),
      when('mode', ['Off'], unset('namespace')),
      when('drain.surge', [true], anyOf(['maxLimit', 'nodeSelector.matchLabels'], 'maxLimit: 8Gi')),
    ],
  }),
  status: object({
    description: 'What is found.',
    fields: {
      nodes: integer({ description: 'How many nodes.', min: 0 }),
      lastCheckTime: time({ description: 'The last look.' }),
      conditions: conditions('Ready: it is in force.'),
    },
  }),
});

/** The next version of the toy: another word, another field, and a bound that some objects are beyond. */
export const newerToy = defineResource({
  ...toy,
  columns: [],
  spec: object({
    description: toy.spec.description,
    fields: {
      ...toy.spec.fields,
      mode: choice({ description: 'How far.', of: ['Observe', 'Auto', 'Off', 'Later'], default: 'Observe' }),
      weight: integer({ description: 'The highest weight wins.', min: 1, max: 500, default: 100 }),
      later: flag({ description: 'Came with this version.', default: true }),
    },
  }),
});
