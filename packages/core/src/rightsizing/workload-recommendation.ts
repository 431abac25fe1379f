import { conditions } from '../resource/condition.ts';
import { defineResource, type StatusOf } from '../resource/definition.ts';
import { choice, flag, integer, list, object, quantity, text, time } from '../resource/field.ts';
import { sizedKinds, workloadStates } from './optimization-policy.ts';

const LONGEST_NAME = 253;

const count = <const D extends string>(description: D) => integer({ description, min: 0 });
const cpu = <const D extends string>(description: D) => quantity({ description, example: '500m' });
const memory = <const D extends string>(description: D) => quantity({ description, example: '512Mi' });

const requests = <const D extends string>(description: D) =>
  object({ description, fields: { cpu: cpu('Of CPU.'), memory: memory('Of memory.') } });

const size = <const D extends string>(description: D) =>
  object({
    description,
    fields: {
      cpu: cpu('The CPU request.'),
      memory: memory('The memory request.'),
      cpuLimit: cpu('The CPU limit.'),
      memoryLimit: memory('The memory limit.'),
    },
  });

/** What one workload is recommended, gets and has. The controller creates it; nobody else needs to write it. */
export const workloadRecommendation = defineResource({
  kind: 'WorkloadRecommendation',
  plural: 'workloadrecommendations',
  shortNames: ['wrec'],
  scope: 'Namespaced',
  description:
    'What right-sizing found out about one workload: usage, recommendation, target, and what holds a change. The controller writes it.',
  columns: [
    { name: 'Policy', path: 'spec.policyRef.name' },
    { name: 'State', path: 'status.state' },
    { name: 'Reason', path: 'status.reason' },
    { name: 'CPU', path: 'status.total.cpu' },
    { name: 'Memory', path: 'status.total.memory' },
  ],
  spec: object({
    description: 'Which workload, and by which policy.',
    fields: {
      targetRef: object({
        description: 'The workload.',
        required: true,
        fields: {
          apiVersion: text({
            description: 'Its group and version.',
            required: true,
            maxLength: 63,
            example: 'apps/v1',
          }),
          kind: choice({ description: 'Its kind.', required: true, of: sizedKinds }),
          name: text({
            description: 'Its name.',
            required: true,
            minLength: 1,
            maxLength: LONGEST_NAME,
            example: 'web',
          }),
        },
      }),
      policyRef: object({
        description: 'The policy that acts on it.',
        required: true,
        fields: {
          namespace: text({
            description: 'Its namespace.',
            required: true,
            minLength: 1,
            maxLength: 63,
            example: 'shop',
          }),
          name: text({
            description: 'Its name.',
            required: true,
            minLength: 1,
            maxLength: LONGEST_NAME,
            example: 'production',
          }),
        },
      }),
    },
  }),
  status: object({
    description: 'What is found, and what becomes of it.',
    fields: {
      observedGeneration: integer({
        description: 'The metadata.generation of the workload that it is about.',
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
      }),
      state: choice({ description: 'How far it is.', of: workloadStates }),
      reason: text({ description: 'Why, in one word.', maxLength: 128, example: 'WithinThreshold' }),
      message: text({
        description: 'Why, in a sentence.',
        maxLength: 1024,
        example: 'The change is too small.',
      }),
      lastRecommendation: time({ description: 'When usage was last turned into a recommendation.' }),
      lastApplied: time({ description: 'When a change was last applied.' }),
      evidenceAt: time({ description: 'The newest usage that counts.' }),
      apply: flag({ description: 'New pods get the target at admission.' }),
      dryRun: flag({ description: 'The configuration lets nothing be applied.' }),
      total: requests('The targets of all containers of a pod.'),
      pods: object({
        description: 'The running pods.',
        fields: {
          total: count('All.'),
          atTarget: count('That have their target.'),
          waiting: count('That a reason holds.'),
          ownSize: object({
            description: 'With PerPod, what pods request by their own usage.',
            fields: {
              min: requests('The least.'),
              median: requests('The median.'),
              max: requests('The most.'),
            },
          }),
        },
      }),
      containers: list({
        description: 'By container.',
        maxItems: 64,
        unique: ['name'],
        items: object({
          description: 'One container.',
          fields: {
            name: text({ description: 'Its name.', required: true, maxLength: 63, example: 'app' }),
            samples: count('Minutes of usage that are known.'),
            historySince: time({ description: 'Since when usage is known.' }),
            cpu: object({
              description: 'CPU usage over the window.',
              fields: { p50: cpu('P50.'), p90: cpu('P90.'), p99: cpu('P99.') },
            }),
            memory: object({
              description: 'Memory usage over the window.',
              fields: {
                p50: memory('P50.'),
                p90: memory('P90.'),
                p99: memory('P99.'),
                peak: memory('The highest of the window, today and yesterday.'),
              },
            }),
            recommendation: requests('The percentile times the factor, within the bounds.'),
            target: size('What new pods get.'),
            reason: text({
              description: 'What holds the target off the recommendation.',
              maxLength: 128,
              example: 'HeldAtPeak',
            }),
            changedAt: object({
              description: 'When the target last changed.',
              fields: {
                increase: time({ description: 'Upwards.' }),
                decrease: time({ description: 'Downwards.' }),
              },
            }),
            floors: object({
              description: 'What memory must not fall below.',
              fields: {
                dailyPeaks: list({
                  description: 'The highest memory usage of each of the last 14 days in bytes, today first.',
                  maxItems: 14,
                  items: integer({
                    description: 'Of one day; 0 if nothing is known.',
                    min: 0,
                    max: Number.MAX_SAFE_INTEGER,
                  }),
                }),
                dailyPeaksDay: time({ description: 'The day of the first of them.' }),
                eviction: object({
                  description: 'A pod was evicted for want of memory.',
                  fields: {
                    memory: memory('What the container used then.'),
                    until: time({ description: 'How long this counts.' }),
                  },
                }),
                oom: object({
                  description: 'The container ran out of memory.',
                  fields: {
                    limit: memory('The limit it has since.'),
                    at: time({ description: 'When.' }),
                    until: time({ description: 'How long it stays at least there.' }),
                    count: count('How often within this time.'),
                  },
                }),
              },
            }),
            limitRaised: object({
              description: 'The last raise of the CPU limit.',
              fields: { at: time({ description: 'When.' }) },
            }),
            canary: object({
              description: 'A decrease of the memory limit that some pods try first.',
              fields: {
                limit: memory('The lower limit.'),
                before: memory('The limit before.'),
                since: time({ description: 'Since when.' }),
                reverts: count('How often it was taken back.'),
                heldUntil: time({ description: 'No further try before.' }),
              },
            }),
            templateSince: time({ description: 'Since when the template requests this.' }),
            template: size(
              'What the target was computed from: the template, with the defaults of the API server.',
            ),
          },
        }),
      }),
      conditions: conditions('MemoryGrowthSuspected: the memory limit was raised three times in seven days.'),
    },
  }),
});

export type RecommendationStatus = StatusOf<typeof workloadRecommendation>;
