import { declare, type SettingRule } from '@spotalis/units';

const settings = {
  dryRun: { format: 'flag', default: false, doc: 'Change nothing.', reloadable: true },
  shop: {
    port: { format: 'port', default: 9443, doc: 'Where it serves.' },
    period: { format: 'duration', min: '5s', example: '30s', default: '30s', doc: 'How often it counts.' },
    workers: { format: 'integer', min: 1, max: 100, example: 5, default: 5, doc: 'Counters.' },
    kind: { format: 'choice', options: ['corner', 'mall'], default: 'corner', doc: 'What it is.' },
    name: {
      format: 'text',
      pattern: /^[a-z]+$/,
      example: 'north',
      default: null,
      doc: 'Its name.',
      reloadable: true,
    },
    store: {
      format: 'url',
      schemes: ['redis', 'memory'],
      example: 'redis://r',
      default: null,
      doc: 'Where.',
    },
  },
  doors: {
    open: {
      format: 'list',
      pattern: /^[\w:[\]]+$/,
      what: 'a list of doors',
      example: '[front]',
      default: [],
      doc: 'Open ones.',
      aliases: ['shop.doors'],
    },
    labels: {
      format: 'structure',
      what: 'labels',
      example: '{ a: b }',
      read: (written: unknown) =>
        typeof written === 'object' && written !== null && !Array.isArray(written)
          ? { value: written as Readonly<Record<string, unknown>> }
          : { problem: `${JSON.stringify(written)} is no map` },
      default: {},
      doc: 'What the doors are labelled.',
    },
  },
} as const;

const hasStaff: SettingRule<typeof settings> = ({ shop: { kind, workers } }) =>
  kind === 'mall' && workers < 5 ? [{ key: 'shop.workers', message: 'has to be at least 5 in a mall' }] : [];

/** What a service may declare: a setting of each format. */
export const shopSettings = declare(settings, [hasStaff]);
export type ShopSettings = typeof settings;
