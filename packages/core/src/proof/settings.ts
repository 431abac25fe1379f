import { declare } from '@spotalis/units';

export const placeholderSettings = declare({
  fallback: {
    probe: {
      format: 'choice',
      options: ['placeholder', 'none'],
      default: 'placeholder',
      doc: 'How capacity of a type is looked for where no node has room: by a pause pod that an autoscaler may start a node for, or not at all.',
    },
    placeholderImage: {
      format: 'text',
      what: 'an image',
      example: 'registry.k8s.io/pause:3.10',
      default: 'registry.k8s.io/pause:3.10',
      doc: 'What placeholders run.',
    },
    placeholderPriorityClass: {
      format: 'text',
      what: 'the name of an object',
      example: 'spotalis-placeholder',
      default: 'spotalis-placeholder',
      doc: 'The PriorityClass of placeholders, of value -10. It has to exist; the chart brings it.',
    },
    maxPlaceholders: {
      format: 'integer',
      min: 1,
      max: 1_000,
      example: 3,
      default: 3,
      doc: 'Placeholders in the whole cluster at any time.',
    },
    placeholderTimeout: {
      format: 'duration',
      min: '1s',
      example: '5m',
      default: '5m',
      doc: 'How long a placeholder may be without a node before it is given up. The next one waits as fallback.backoff says.',
    },
  },
});
