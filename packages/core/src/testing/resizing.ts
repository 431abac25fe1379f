import * as fc from 'fast-check';
import type { Size, Sizes } from '../cluster/size.ts';
import type { ResizeSurroundings } from '../resize/guard.ts';
import { type RawResizablePod, readResizablePod, type ResizablePod } from '../resize/resizable-pod.ts';
import { qosClassOf } from '../resize/quality.ts';

type Amounts = Readonly<Record<string, string>>;

/** A running pod, applied as its spec has it. */
export function resizable(
  containers: Readonly<Record<string, { readonly requests?: Amounts; readonly limits?: Amounts }>>,
  more: {
    readonly spec?: object;
    readonly status?: object;
    readonly metadata?: object;
    readonly policy?: readonly { readonly resourceName: string; readonly restartPolicy: string }[];
  } = {},
): ResizablePod {
  const raw: RawResizablePod = {
    metadata: { name: 'web-1', namespace: 'shop', uid: 'web-1-uid', resourceVersion: '1', ...more.metadata },
    spec: {
      nodeName: 'n1',
      containers: Object.entries(containers).map(([name, resources]) => ({
        name,
        resources,
        ...(more.policy === undefined ? {} : { resizePolicy: more.policy }),
      })),
      ...more.spec,
    },
    status: {
      phase: 'Running',
      containerStatuses: Object.entries(containers).map(([name, resources]) => ({
        name,
        resources,
        ...(resources.requests === undefined ? {} : { allocatedResources: resources.requests }),
      })),
      ...more.status,
    },
  };
  return readResizablePod(raw);
}

/** Nothing in the way. */
export const free: ResizeSurroundings = {
  supported: true,
  lowersMemoryLimits: true,
  node: null,
  podLeaves: false,
  limitRanges: [],
  quotas: [],
  memoryUsed: new Map(),
  allocationCovers: () => false,
};

export const size = (requests: Size['requests'] = {}, limits: Size['limits'] = {}): Size => ({
  requests,
  limits,
});

/** The pod after the API server took the patch, before the kubelet has seen it. */
export function patched(pod: ResizablePod, sizes: Sizes): ResizablePod {
  return {
    ...pod,
    generation: (pod.generation ?? 0) + 1,
    containers: pod.containers.map((one) => {
      const to = sizes.get(one.name);
      return {
        ...one,
        spec: {
          requests: { ...one.spec.requests, ...to?.requests },
          limits: { ...one.spec.limits, ...to?.limits },
        },
      };
    }),
  };
}

/** And after the kubelet carried it out. */
export const actuated = (pod: ResizablePod): ResizablePod => ({
  ...pod,
  observedGeneration: pod.generation,
  pending: null,
  inProgress: null,
  containers: pod.containers.map((one) => ({ ...one, actual: one.spec, allocated: one.spec.requests })),
});

const amount = fc.integer({ min: 1, max: 8 }).map((step) => step * 100);

/** A container that the API server would take. Few amounts, so that the same ones meet. */
const sound: fc.Arbitrary<Size> = fc
  .record({ cpu: amount, memory: amount, over: amount, hasCpuLimit: fc.boolean(), isEqual: fc.boolean() })
  .map(({ cpu, memory, over, hasCpuLimit, isEqual }) => {
    const more = isEqual ? 0 : over + 300;
    const limits = { memory: memory + more, ...(hasCpuLimit ? { cpu: cpu + more } : {}) };
    return size({ cpu, memory }, limits);
  });

export const pods: fc.Arbitrary<ResizablePod> = fc
  .record({
    sizes: fc.array(sound, { minLength: 1, maxLength: 3 }),
    kind: fc.constantFrom('container' as const, 'sidecar' as const),
    restarts: fc.constantFrom<readonly string[]>([], [], [], ['memory']),
  })
  .map(({ sizes, kind, restarts }) => ({
    ...resizable({}),
    qos: qosClassOf(sizes),
    generation: 1,
    observedGeneration: 1,
    containers: sizes.map((spec, index) => ({
      name: `c${index}`,
      kind: index === 0 ? 'container' : kind,
      spec,
      allocated: spec.requests,
      actual: spec,
      restartsFor: index === 0 ? restarts : [],
    })),
  }));

/** One to three amounts of those containers, or of one that is not there, sensible or not. */
export const asks: fc.Arbitrary<Sizes> = fc
  .array(
    fc.record({
      container: fc.constantFrom('c0', 'c0', 'c0', 'c0', 'c0', 'c1', 'c1', 'c2'),
      resource: fc.constantFrom('cpu', 'memory', 'memory'),
      fields: fc.constantFrom<readonly ('requests' | 'limits')[]>(
        ['requests'],
        ['limits'],
        ['limits'],
        ['requests', 'limits'],
      ),
      small: amount,
      large: fc.integer({ min: 5, max: 16 }).map((step) => step * 100),
    }),
    { minLength: 1, maxLength: 2 },
  )
  .map((all) => {
    const sizes = new Map<string, { requests: Record<string, number>; limits: Record<string, number> }>();
    for (const { container, resource, fields, small, large } of all) {
      const one = sizes.get(container) ?? { requests: {}, limits: {} };
      for (const field of fields) one[field][resource] = fields[0] === 'limits' ? large : small;
      sizes.set(container, one);
    }
    return sizes;
  });

export const surroundings: fc.Arbitrary<ResizeSurroundings> = fc
  .record({
    node: fc.option(
      fc.record({
        name: fc.constant('n1'),
        leaving: fc.constantFrom(false, false, false, true),
        allocatable: fc.constant({ cpu: 3_000, memory: 3_000 }),
        free: fc.record({ cpu: fc.nat(1_000), memory: fc.nat(1_000) }),
      }),
    ),
    podLeaves: fc.constantFrom(false, false, false, false, true),
    quota: fc.option(fc.record({ 'requests.cpu': fc.nat(1_000), 'limits.memory': fc.nat(1_000) })),
    most: fc.option(fc.record({ cpu: amount, memory: amount }), { freq: 2 }),
    used: fc.option(amount, { freq: 3 }),
    lowersMemoryLimits: fc.constantFrom(true, true, true, false),
    covered: fc.constantFrom('c0', 'none', 'none'),
  })
  .map(({ node, podLeaves, quota, most, used, lowersMemoryLimits, covered }) => ({
    ...free,
    node,
    podLeaves,
    lowersMemoryLimits,
    quotas: quota === null ? [] : [{ name: 'q', free: quota }],
    limitRanges:
      most === null
        ? []
        : [
            {
              type: 'Container' as const,
              min: {},
              max: { cpu: most.cpu + 800, memory: most.memory + 800 },
              default: {},
              defaultRequest: {},
              maxLimitRequestRatio: {},
            },
          ],
    memoryUsed: used === null ? new Map() : new Map(['c0', 'c1', 'c2'].map((name) => [name, used])),
    allocationCovers: (container: string) => container === covered,
  }));
