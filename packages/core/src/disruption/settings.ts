import { declare, type SettingGroup, type SettingRule, type ValuesOf } from '@spotalis/units';
import { readClusterWindow } from './cluster-window.ts';

const settings = {
  rebalance: {
    cooldown: {
      format: 'duration',
      example: '10s',
      default: '10s',
      doc: "Rest of a workload after a move's replacement is Ready. Doubled by each failed move, up to 30m.",
      reloadable: true,
    },
    maxMovesPerMinute: {
      format: 'integer',
      min: 1,
      max: 100_000,
      example: 60,
      default: 60,
      doc: 'Moves begun within a minute, in the whole cluster.',
      reloadable: true,
    },
    maxInFlight: {
      cluster: {
        format: 'integer',
        min: 1,
        max: 10_000,
        example: 20,
        default: 20,
        doc: 'Moves in the whole cluster whose replacement is not Ready yet.',
        reloadable: true,
      },
      namespace: {
        format: 'integer',
        min: 1,
        max: 10_000,
        example: 5,
        default: 5,
        doc: 'The same in one namespace.',
        reloadable: true,
      },
      node: {
        format: 'integer',
        min: 1,
        max: 10_000,
        example: 1,
        default: 1,
        doc: 'The same of pods that were on one node.',
        reloadable: true,
      },
      workload: {
        format: 'integer',
        min: 1,
        max: 1,
        example: 1,
        default: 1,
        doc: 'The same of one workload: its pods are moved one after another.',
        reloadable: true,
      },
    },
    minPodAge: {
      format: 'duration',
      example: '1m',
      default: '1m',
      doc: 'Pods younger than this are not moved, unless they are not ready.',
      reloadable: true,
    },
    moveTimeout: {
      format: 'duration',
      min: '1s',
      example: '10m',
      default: '10m',
      doc: 'A move whose replacement is not Ready after this time has failed.',
      reloadable: true,
    },
    allowSingleReplica: {
      format: 'flag',
      default: false,
      doc: 'Move the only pod of a workload, too, which is away until its replacement is ready.',
      reloadable: true,
    },
    schedule: {
      format: 'text',
      what: 'five fields of cron',
      example: 'CRON_TZ=Europe/Berlin 0 22 * * *',
      default: null,
      doc: 'When moves may start anywhere, on top of the windows of workloads. Unset: always. With duration.',
      reloadable: true,
    },
    duration: {
      format: 'duration',
      min: '1m',
      example: '4h',
      default: null,
      doc: 'How long each opening of the schedule lasts.',
      reloadable: true,
    },
  },
} as const satisfies SettingGroup;

/** What the configuration says about when pods may be moved, and how many at a time. */
export type DisruptionValues = ValuesOf<typeof settings>['rebalance'];

const windowIsWhole: SettingRule<typeof settings> = ({ rebalance: { schedule, duration: length } }) => {
  if ((schedule === undefined) === (length === undefined)) return [];
  const [missing, present, example] =
    schedule === undefined
      ? ['rebalance.schedule', 'duration', '0 22 * * *']
      : ['rebalance.duration', 'schedule', '4h'];
  return [{ key: missing, message: `has to be set with ${present}, for example ${example}` }];
};

const scheduleIsCron: SettingRule<typeof settings> = ({ rebalance }) => {
  const reading = readClusterWindow(rebalance);
  return reading.ok ? [] : reading.problems;
};

export const disruptionSettings = declare(settings, [windowIsWhole, scheduleIsCron]);
