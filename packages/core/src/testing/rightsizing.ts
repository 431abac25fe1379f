import * as fc from 'fast-check';
import { apiVersion } from '../resource/definition.ts';
import { readStatus } from '../resource/parse.ts';
import { type RawResizablePod, readResizablePod } from '../resize/resizable-pod.ts';
import { readMemory } from '../rightsizing/memory.ts';
import type { RightsizingSnapshot, SizedPod } from '../rightsizing/snapshot.ts';
import type { RecommendationStatus } from '../rightsizing/workload-recommendation.ts';
import { workloadRecommendation } from '../rightsizing/workload-recommendation.ts';
import { HOUR_MS, MiB, NOON_MS, sizings, sizingWith, usages, usageWith } from './usage.ts';

const appSize = {
  requests: { cpu: 1000, memory: 1024 * MiB },
  limits: { cpu: 2000, memory: 2048 * MiB },
};

/** Requests in millicores and MiB. */
interface PodAmounts {
  readonly cpu: number;
  readonly memory: number;
  readonly cpuLimit: number;
  readonly memoryLimit: number;
}

const appAmounts: PodAmounts = { cpu: 1000, memory: 1024, cpuLimit: 2000, memoryLimit: 2048 };

export function podWith(
  name: string,
  amounts: Partial<PodAmounts> = {},
  more: Partial<SizedPod> & { readonly restarts?: boolean } = {},
): SizedPod {
  const { cpu, memory, cpuLimit, memoryLimit } = { ...appAmounts, ...amounts };
  const resources = {
    requests: { cpu: `${cpu}m`, memory: `${memory}Mi` },
    limits: { cpu: `${cpuLimit}m`, memory: `${memoryLimit}Mi` },
  };
  const { restarts = false, ...rest } = more;
  const resizePolicy = restarts
    ? ['cpu', 'memory'].map((resourceName) => ({ resourceName, restartPolicy: 'RestartContainer' }))
    : [];
  const raw: RawResizablePod = {
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '1' },
    spec: { nodeName: 'node-1', containers: [{ name: 'app', resources, resizePolicy }] },
    status: { phase: 'Running', containerStatuses: [{ name: 'app', resources }] },
  };
  return {
    pod: readResizablePod(raw),
    own: new Map(),
    recent: new Map(),
    refused: false,
    outOfMemory: new Set(),
    ...rest,
  };
}

/** A Deployment of two pods with one container, which use less than they request. */
export const snapshotWith = (more: Partial<RightsizingSnapshot> = {}): RightsizingSnapshot => ({
  workload: {
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
    uid: 'uid-web',
    generation: 1,
    deleting: false,
    paused: false,
  },
  policy: actingWith(),
  readOnly: false,
  dryRun: false,
  forbidden: false,
  template: [{ name: 'app', kind: 'container', size: appSize }],
  remembered: new Map(),
  lastAppliedMs: null,
  usage: new Map([['app', usageWith()]]),
  recent: new Map(),
  incidents: new Map(),
  scaledOn: new Set(),
  managedByVpa: new Map(),
  lent: new Set(),
  limitRanges: [],
  largestNode: null,
  resizeSupported: true,
  pods: [podWith('web-1'), podWith('web-2')],
  ...more,
});

export const actingWith = (spec: object = {}): RightsizingSnapshot['policy'] => ({
  kind: 'acting',
  namespace: 'shop',
  name: 'policy',
  sizing: sizingWith(spec),
});

/** The status as the API server gives it back. */
export function storedStatus(status: RecommendationStatus): Partial<RecommendationStatus> {
  const written: unknown = JSON.parse(JSON.stringify(status));
  const object = { apiVersion, kind: workloadRecommendation.kind, metadata: {}, spec: {}, status: written };
  const { value, problems } = readStatus(workloadRecommendation, object);
  if (value === null) throw new Error(problems.map(({ message }) => message).join('; '));
  return value;
}

/** The next look at the same workload, after whoever decided died: only the stored status is left. */
export const nextSnapshot = (
  snapshot: RightsizingSnapshot,
  status: RecommendationStatus | null,
  more: Partial<RightsizingSnapshot> = {},
): RightsizingSnapshot => ({
  ...snapshot,
  remembered: status === null ? snapshot.remembered : readMemory(storedStatus(status)),
  ...more,
});

const pods = fc
  .array(
    fc.tuple(
      fc.record({
        cpu: fc.integer({ min: 10, max: 4000 }),
        memory: fc.integer({ min: 64, max: 6000 }),
        roomCpu: fc.nat(4000),
        roomMemory: fc.nat(6000),
      }),
      fc.record({ refused: fc.boolean(), restarts: fc.boolean(), oom: fc.boolean() }),
      fc.option(usages, { nil: null }),
    ),
    { maxLength: 5 },
  )
  .map((all) =>
    all.map(([{ cpu, memory, roomCpu, roomMemory }, { refused, restarts, oom }, own], index) =>
      podWith(
        `web-${index}`,
        { cpu, memory, cpuLimit: cpu + roomCpu, memoryLimit: memory + roomMemory },
        {
          refused,
          restarts,
          outOfMemory: new Set(oom ? ['app'] : []),
          own: own === null ? new Map() : new Map([['app', own]]),
        },
      ),
    ),
  );

const templates = fc
  .tuple(fc.integer({ min: 10, max: 4000 }), fc.integer({ min: 64, max: 6000 }), fc.nat(4000), fc.nat(6000))
  .map(([cpu, memory, roomCpu, roomMemory]) => ({
    requests: { cpu, memory: memory * MiB },
    limits: { cpu: cpu + roomCpu, memory: (memory + roomMemory) * MiB },
  }));

/** Any workload of one container that a policy acts on, with nothing in the way of applying. */
export const snapshots: fc.Arbitrary<RightsizingSnapshot> = fc
  .record({
    sizing: sizings,
    size: templates,
    usage: fc.option(usages, { nil: null, freq: 8 }),
    oomHours: fc.option(fc.nat(48), { nil: null }),
    evicted: fc.option(fc.nat(6000), { nil: null }),
    resizeSupported: fc.boolean(),
    recreate: fc.boolean(),
    inPlace: fc.boolean(),
    scaled: fc.subarray(['cpu', 'memory'] as const, { maxLength: 1 }),
    lent: fc.boolean(),
    pods,
  })
  .map(({ sizing, size, usage, oomHours, evicted, recreate, inPlace, scaled, lent, ...rest }) =>
    snapshotWith({
      policy: {
        kind: 'acting',
        namespace: 'shop',
        name: 'policy',
        sizing: { ...sizing, stabilizationMs: 0, recreate, inPlace },
      },
      template: [{ name: 'app', kind: 'container', size }],
      usage: usage === null ? new Map() : new Map([['app', usage]]),
      incidents: new Map([
        [
          'app',
          {
            oomAtMs: oomHours === null ? null : NOON_MS - oomHours * HOUR_MS,
            evicted: evicted === null ? null : { atMs: NOON_MS - HOUR_MS, memory: evicted * MiB },
          },
        ],
      ]),
      scaledOn: new Set(scaled),
      lent: new Set(lent ? ['app'] : []),
      ...rest,
    }),
  );
