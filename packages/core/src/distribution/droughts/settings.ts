import { declare, type SettingGroup, type SettingRule } from '@spotalis/units';

const settings = {
  fallback: {
    after: {
      format: 'duration',
      example: '2m',
      default: '2m',
      doc: 'How long a pod may wait for spot capacity before a substitute on on-demand takes its place, where neither its workload nor its namespace sets spot-fallback-after.',
      reloadable: true,
    },
    maxRemovalsPerMinute: {
      format: 'integer',
      min: 1,
      max: 100_000,
      example: 300,
      default: 300,
      doc: 'Pods without a node that are removed within a minute, in the whole cluster, for substitutes to take their place.',
      reloadable: true,
    },
    backoff: {
      initial: {
        format: 'duration',
        min: '1s',
        example: '1m',
        default: '1m',
        doc: 'How long after the beginning of a lack of spot capacity it is looked for again, where no node shows it, and after a placeholder in vain. Doubled by each attempt in vain.',
        reloadable: true,
      },
      max: {
        format: 'duration',
        min: '1s',
        example: '30m',
        default: '30m',
        doc: 'The longest that it gets.',
        reloadable: true,
      },
    },
  },
} as const satisfies SettingGroup;

const backoffGrows: SettingRule<typeof settings> = ({ fallback: { backoff } }) => {
  if (backoff.initial <= backoff.max) return [];
  const message = 'has to be at least initial, for example 30m and 1m';
  return [{ key: 'fallback.backoff.max', message }];
};

export const droughtSettings = declare(settings, [backoffGrows]);
