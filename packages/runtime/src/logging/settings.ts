import { declare } from '@spotalis/units';

export const loggingSettings = declare({
  logging: {
    level: {
      format: 'choice',
      options: ['error', 'warn', 'info', 'debug'],
      default: 'info',
      doc: 'The least important lines still written.',
      reloadable: true,
    },
    format: {
      format: 'choice',
      options: ['json', 'text'],
      default: 'json',
      doc: 'json for machines, text for people.',
    },
  },
});
