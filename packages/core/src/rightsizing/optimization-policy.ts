import { parseSchedule } from '../policy/schedule.ts';
import { conditions } from '../resource/condition.ts';
import { defineResource, type SpecOf, type StatusOf } from '../resource/definition.ts';
import {
  choice,
  countOrPercentage,
  duration,
  flag,
  integer,
  list,
  number,
  object,
  quantity,
  text,
  time,
} from '../resource/field.ts';
import { anyOf, bounded, ordered, together, when } from '../resource/rule.ts';
import { labelSelector } from '../resource/selector.ts';

export const sizedKinds = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;
export const percentiles = ['P50', 'P90', 'P99'] as const;
export const workloadStates = ['Pending', 'Recommended', 'Applying', 'Applied', 'Skipped', 'Error'] as const;

const LONGEST_NAME = 253;
const MOST_NAMESPACES = 256;

const namespaceList = <const D extends string>(description: D) =>
  list({
    description,
    maxItems: MOST_NAMESPACES,
    unique: 'set',
    items: text({ description: 'A namespace.', minLength: 1, maxLength: 63, example: 'shop' }),
  });

const kindList = <const D extends string>(description: D) =>
  list({
    description,
    maxItems: sizedKinds.length,
    unique: 'set',
    items: choice({ description: 'A kind of workload.', of: sizedKinds }),
  });

const percentile = <const D extends string>(description: D) => choice({ description, of: percentiles });

const factor = <const D extends string>(description: D) =>
  number({ description, min: 1, max: 10, example: 1.2 });

const bounds = <const L extends string | number, const N extends string, const X extends string>(
  what: string,
  least: L & ('1m' | '1'),
  min: N & ('100m' | '128Mi'),
  max: X & ('4' | '8Gi'),
) =>
  object({
    description: `The least and the most ${what} that a container may request.`,
    required: true,
    fields: {
      min: quantity({ description: 'No request is below.', required: true, min: least, example: min }),
      max: quantity({ description: 'No request is above.', required: true, min: least, example: max }),
    },
    rules: [ordered('min', '<=', 'max', min)],
  });

/** Which workloads are sized, from what evidence, within which bounds, and how far the result is applied. */
export const optimizationPolicy = defineResource({
  kind: 'OptimizationPolicy',
  plural: 'optimizationpolicies',
  shortNames: ['optpol'],
  scope: 'Namespaced',
  description:
    'Selects Deployments, StatefulSets and DaemonSets, and says how their CPU and memory requests follow measured usage.',
  columns: [
    { name: 'Mode', path: 'spec.mode' },
    { name: 'Weight', path: 'spec.weight' },
    { name: 'Provider', path: 'spec.metricsConfig.provider', wide: true },
    { name: 'Workloads', path: 'status.counts.selected' },
    { name: 'Applied', path: 'status.counts.applied' },
    { name: 'Ready', condition: 'Ready' },
  ],
  spec: object({
    description: 'What is selected, and how it is sized.',
    fields: {
      mode: choice({
        description:
          'Auto applies targets. Recommend writes status only. Disabled does nothing and keeps the status as it is.',
        required: true,
        of: ['Auto', 'Recommend', 'Disabled'],
      }),
      weight: integer({
        description:
          'Of several policies that select a workload the one with the highest weight acts; of equal ones, the first by namespace and name.',
        min: 1,
        max: 1000,
        default: 100,
      }),
      selector: object({
        description:
          'Which workloads. All parts that are set must match. A policy outside the namespace of the controller selects workloads of its own namespace only.',
        required: true,
        fields: {
          namespaceSelector: labelSelector('Namespaces by their labels. Absent: all.'),
          workloadSelector: labelSelector('Workloads by their labels. Absent: all.'),
          namespaces: object({
            description: 'Namespaces by name.',
            fields: {
              allow: namespaceList('Only these. Absent or empty: all.'),
              deny: namespaceList('None of these, even if another part selects them.'),
            },
          }),
          workloadTypes: object({
            description: 'Kinds of workloads.',
            fields: {
              include: kindList('Only these. Absent or empty: all three.'),
              exclude: kindList('None of these, even if they are included.'),
            },
          }),
        },
        rules: [
          anyOf(
            ['namespaceSelector', 'workloadSelector', 'namespaces'],
            'workloadSelector: {matchLabels: {optimize: "true"}}',
          ),
        ],
      }),
      metricsConfig: object({
        description: 'Where usage comes from, and what is made of it.',
        default: {},
        fields: {
          provider: choice({
            description: 'Where usage is read.',
            of: ['prometheus', 'metrics-server', 'custom'],
            default: 'prometheus',
          }),
          rollingWindow: duration({
            description: 'The span of usage that counts.',
            min: '1m',
            default: '24h',
            example: '24h',
          }),
          percentile: choice({ description: 'Of usage over the window.', of: percentiles, default: 'P90' }),
          safetyFactor: number({
            description: 'The recommendation is the percentile times this factor.',
            min: 1,
            default: 1.2,
            example: 1.2,
          }),
          cpu: object({
            description: 'What differs for CPU.',
            default: {},
            fields: {
              percentile: percentile('Instead of metricsConfig.percentile.'),
              safetyFactor: factor('Instead of metricsConfig.safetyFactor.'),
            },
          }),
          memory: object({
            description: 'What differs for memory.',
            default: {},
            fields: {
              percentile: percentile('Instead of metricsConfig.percentile.'),
              safetyFactor: factor('Instead of metricsConfig.safetyFactor.'),
              floorAtPeak: flag({
                description: 'The request is never below the highest usage of the window.',
                default: false,
              }),
            },
          }),
          aggregation: choice({
            description:
              'How the usage of several pods becomes one. Max: the hottest pod at each instant. PerPod: each running pod by its own usage, new ones by Max. Pooled: all points of all pods. Auto: Max for Deployments, PerPod for StatefulSets and DaemonSets.',
            of: ['Auto', 'Max', 'PerPod', 'Pooled'],
            default: 'Auto',
          }),
          resolution: duration({
            description:
              'The length of one point. With Prometheus at least four times the scrape interval. Long windows have longer points: a window has at most 2016.',
            min: '1m',
            max: '15m',
            default: '5m',
            example: '5m',
          }),
          minSamples: integer({
            description: 'Minutes of usage that must be known before any change.',
            min: 1,
            max: 10_000,
            default: 30,
          }),
          minHistory: duration({
            description: 'The span of usage that must be known before a decrease.',
            default: '24h',
            example: '24h',
          }),
          startupExclusion: duration({
            description: "CPU of a container's first seconds that does not count.",
            max: '1h',
            default: '0s',
            example: '2m',
          }),
          surge: object({
            description: 'Follow a rise of CPU usage sooner.',
            default: {},
            fields: {
              enabled: flag({
                description: 'The CPU target is at least P90 of the surge window.',
                default: false,
              }),
              window: duration({
                description: 'The span of usage that a rise is read from.',
                min: '5m',
                max: '6h',
                default: '30m',
                example: '30m',
              }),
            },
          }),
        },
      }),
      resourceBounds: object({
        description: 'The bounds of every target.',
        required: true,
        fields: {
          cpu: bounds('CPU', '1m', '100m', '4'),
          memory: bounds('memory', '1', '128Mi', '8Gi'),
        },
      }),
      updateStrategy: object({
        description: 'How a target is applied.',
        default: {},
        fields: {
          allowInPlaceResize: flag({ description: 'Running pods are resized in place.', default: true }),
          allowRecreate: flag({
            description:
              'Where a pod cannot be resized in place, it may be evicted within its PodDisruptionBudget.',
            default: false,
          }),
          updateRequestsOnly: flag({
            description: 'Limits stay as they are. False: limitConfig says what becomes of them.',
            default: true,
          }),
          useServerSideApply: flag({
            description: 'With applyTo Template, one server-side apply names all containers.',
            default: true,
          }),
          applyTo: choice({
            description:
              'Pods: new pods at admission, running ones in place. Template: the template of the workload, which is a rollout.',
            of: ['Pods', 'Template'],
            default: 'Pods',
          }),
          changeThreshold: object({
            description: 'A change that is below its percentage or below its amount is left out.',
            default: {},
            fields: {
              increasePercent: integer({ description: 'Of an increase.', min: 0, max: 100, default: 10 }),
              decreasePercent: integer({ description: 'Of a decrease.', min: 0, max: 99, default: 20 }),
              cpu: quantity({ description: 'Of CPU.', default: '10m', example: '10m' }),
              memory: quantity({ description: 'Of memory.', default: '32Mi', example: '32Mi' }),
            },
          }),
          decreaseStabilization: duration({
            description:
              'A decrease goes to the highest target of this span. Use at least 6h with a window below 6h.',
            default: '0s',
            example: '6h',
          }),
          limitConfig: object({
            description: 'What becomes of limits. Read only if updateRequestsOnly is false.',
            default: {},
            fields: {
              mode: choice({
                description:
                  'RaiseOnly raises a limit that usage comes near to. Follow keeps it at a multiple of the target. Keep leaves it. Absent: Follow if a multiplier is set, else RaiseOnly.',
                of: ['RaiseOnly', 'Keep', 'Follow'],
              }),
              cpu: choice({ description: 'For CPU. Absent: as mode.', of: ['RaiseOnly', 'Keep', 'Follow'] }),
              cpuLimitMultiplier: number({
                description: 'With Follow, the CPU limit by the target. Absent: 1.',
                min: 1,
                max: 10,
                example: 1.5,
              }),
              memoryLimitMultiplier: number({
                description: 'With Follow, the memory limit by the target. Absent: 1.1.',
                min: 1,
                max: 10,
                example: 1.1,
              }),
              maxGrowth: number({
                description:
                  "No limit is above this multiple of the template's. Absent: only resourceBounds count.",
                min: 1,
                max: 100,
                example: 2,
              }),
              oom: object({
                description: 'How a memory limit grows after a container ran out of memory.',
                default: {},
                fields: {
                  bumpRatio: number({
                    description: 'At least by this ratio.',
                    min: 1,
                    max: 10,
                    default: 1.2,
                    example: 1.2,
                  }),
                  minBump: quantity({
                    description: 'And at least by this amount.',
                    default: '100Mi',
                    example: '100Mi',
                  }),
                  keep: duration({
                    description: 'How long the limit stays at least there.',
                    default: '168h',
                    example: '168h',
                  }),
                },
              }),
            },
          }),
          rollout: object({
            description: 'How a memory limit is lowered with Follow.',
            default: {},
            fields: {
              canaryPercent: integer({
                description: 'Of the pods that go first.',
                min: 1,
                max: 100,
                default: 100,
              }),
              observe: duration({
                description: 'How long they are watched before the others follow.',
                default: '24h',
                example: '24h',
              }),
              autoRevert: flag({
                description: 'A container that runs out of memory within this time gets its old limit back.',
                default: true,
              }),
            },
          }),
          budget: object({
            description: 'How many pods of a workload change at once.',
            default: {},
            fields: {
              maxConcurrentPods: countOrPercentage({
                description: 'A count, or a percentage of the pods; at least one.',
                min: 1,
                max: 1000,
                default: '25%',
                example: '25%',
              }),
            },
          }),
          schedule: text({
            description:
              'When decreases may begin: five fields of cron, after CRON_TZ=<zone> if not in UTC. Increases do not wait.',
            minLength: 1,
            maxLength: 100,
            accepts: (schedule) => parseSchedule(schedule).ok,
            example: '0 22 * * *',
          }),
          duration: duration({
            description: 'How long they may begin from each time of the schedule.',
            min: '1m',
            example: '4h',
          }),
        },
        rules: [together('schedule', 'duration', 'schedule: 0 22 * * *, duration: 4h')],
      }),
      hpa: choice({
        description:
          'Auto leaves a resource alone while a HorizontalPodAutoscaler scales on its utilization. Ignore sizes it all the same.',
        of: ['Auto', 'Ignore'],
        default: 'Auto',
      }),
      containerPolicies: list({
        description:
          'What differs for some containers. Well-known sidecars are Off unless they are named here.',
        maxItems: 64,
        unique: ['name'],
        default: [],
        items: object({
          description: 'One container.',
          fields: {
            name: text({
              description: 'Its name, or * for all that are not named.',
              required: true,
              minLength: 1,
              maxLength: 63,
              example: 'app',
            }),
            mode: choice({
              description: 'Off: no recommendation and no change.',
              of: ['Auto', 'Off'],
              default: 'Auto',
            }),
          },
        }),
      }),
      reconciliationInterval: duration({
        description: 'How often the workloads are looked at and the status is written.',
        min: '1s',
        default: '5m',
        example: '5m',
      }),
    },
    rules: [
      when(
        'metricsConfig.surge.enabled',
        [true],
        bounded('updateStrategy.decreaseStabilization', '>=', '3h', '6h'),
      ),
    ],
  }),
  status: object({
    description: 'What the policy does.',
    fields: {
      observedGeneration: integer({
        description: 'The metadata.generation that it is about.',
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
      }),
      lastEvaluated: time({ description: 'When the workloads were last looked at.' }),
      dryRun: flag({ description: 'The configuration lets nothing be applied.' }),
      counts: object({
        description: 'Workloads by what becomes of them.',
        fields: {
          selected: integer({ description: 'That this policy acts on.', min: 0 }),
          applied: integer({ description: 'Whose pods have their target.', min: 0 }),
          applying: integer({ description: 'Whose pods are being changed.', min: 0 }),
          skipped: integer({ description: 'That a reason holds.', min: 0 }),
          conflicting: integer({ description: 'That another policy acts on.', min: 0 }),
        },
      }),
      savings: object({
        description: 'What the templates request in all pods, less what the targets do. Negative: more.',
        fields: {
          cpuMillicores: integer({
            description: 'Of CPU.',
            min: -Number.MAX_SAFE_INTEGER,
            max: Number.MAX_SAFE_INTEGER,
          }),
          memoryBytes: integer({
            description: 'Of memory.',
            min: -Number.MAX_SAFE_INTEGER,
            max: Number.MAX_SAFE_INTEGER,
          }),
        },
      }),
      workloads: list({
        description: 'The first 100 workloads by size of the change.',
        maxItems: 100,
        unique: ['namespace', 'kind', 'name'],
        items: object({
          description: 'One workload.',
          fields: {
            name: text({ description: 'Its name.', required: true, maxLength: LONGEST_NAME, example: 'web' }),
            namespace: text({
              description: 'Its namespace.',
              required: true,
              maxLength: 63,
              example: 'shop',
            }),
            kind: choice({ description: 'Its kind.', required: true, of: sizedKinds }),
            lastRecommendation: time({ description: 'When usage was last turned into a recommendation.' }),
            lastApplied: time({ description: 'When a change was last applied.' }),
            recommendations: list({
              description: 'By container.',
              maxItems: 64,
              items: object({
                description: 'One container.',
                fields: {
                  container: text({
                    description: 'Its name.',
                    required: true,
                    maxLength: 63,
                    example: 'app',
                  }),
                  cpu: quantity({ description: 'The CPU request.', example: '500m' }),
                  memory: quantity({ description: 'The memory request.', example: '512Mi' }),
                },
              }),
            }),
            status: choice({ description: 'How far it is.', of: workloadStates }),
            reason: text({ description: 'Why, in one word.', maxLength: 128, example: 'WithinThreshold' }),
          },
        }),
      }),
      conditions: conditions(
        'Ready: the policy is in force. MetricsAvailable: usage is known. ResizeSupported: pods can be resized in place. Degraded: a change fails.',
      ),
    },
  }),
});

export type OptimizationSpec = SpecOf<typeof optimizationPolicy>;
export type OptimizationStatus = StatusOf<typeof optimizationPolicy>;
