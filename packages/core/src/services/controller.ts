import { declare, type SettingGroup, type SettingRule } from '@spotalis/units';

const settings = {
  readOnlyMode: {
    format: 'flag',
    default: false,
    doc: 'Compute, report and explain everything; change nothing: no mutation, no eviction, no reservation.',
    reloadable: true,
  },
  controller: {
    resyncPeriod: {
      format: 'duration',
      min: '5s',
      example: '30s',
      default: '30s',
      doc: 'How often each workload is looked at again without any event.',
    },
    workers: {
      format: 'integer',
      min: 1,
      max: 100,
      example: 5,
      default: 5,
      doc: 'Workloads that the leader looks at side by side.',
    },
    leaderElection: {
      enabled: {
        format: 'flag',
        default: true,
        doc: 'Only one of several controller replicas acts. Off is safe with exactly one replica.',
      },
      namespace: {
        format: 'text',
        what: 'the name of a namespace',
        example: 'spotalis-system',
        default: null,
        doc: 'Where the Lease lives. Unset: the namespace the controller runs in.',
      },
      leaseDuration: {
        format: 'duration',
        min: '1s',
        example: '15s',
        default: '15s',
        doc: 'How long others wait after the last renewal they saw before they take over.',
      },
      renewDeadline: {
        format: 'duration',
        min: '1s',
        example: '10s',
        default: '10s',
        doc: 'How long the leader tries to renew before it stops acting. Below leaseDuration.',
      },
      retryPeriod: {
        format: 'duration',
        min: '100ms',
        example: '2s',
        default: '2s',
        doc: 'Time between two attempts to take or renew the Lease. Below renewDeadline.',
      },
    },
  },
} as const satisfies SettingGroup;

const leaseTimesNest: SettingRule<typeof settings> = ({ controller: { leaderElection: times } }) => {
  if (times.renewDeadline >= times.leaseDuration) {
    return [
      {
        key: 'controller.leaderElection.renewDeadline',
        message: 'has to be below leaseDuration, for example 10s and 15s',
      },
    ];
  }
  // Room for a second attempt within the deadline, as the elector itself demands.
  if (times.retryPeriod * 1.2 >= times.renewDeadline) {
    return [
      {
        key: 'controller.leaderElection.retryPeriod',
        message: 'has to be below renewDeadline by a fifth of itself, for example 2s and 10s',
      },
    ];
  }
  return [];
};

export const controllerSettings = declare(settings, [leaseTimesNest]);
