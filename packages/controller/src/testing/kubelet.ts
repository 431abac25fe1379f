import type { RawResizablePod } from '@spotalis/core';
import { ApiError, ConnectionError, FenceClosedError } from '@spotalis/kube';

type Amounts = Record<string, string>;

interface Container {
  readonly name: string;
  readonly resources: { requests: Amounts; limits: Amounts };
}

interface Pod {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    resourceVersion: string;
    generation: number;
    annotations: Record<string, string>;
    managedFields: { manager: string; subresource: string; time: string }[];
    deletionTimestamp?: string;
  };
  spec: { nodeName: string; containers: Container[] };
  status: {
    phase: string;
    observedGeneration: number;
    conditions: { type: string; status: string; reason: string; message: string }[];
    containerStatuses: (Container & { allocatedResources: Amounts })[];
  };
}

interface Patch {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string | null>>;
  };
  readonly spec?: {
    readonly containers?: readonly {
      readonly name: string;
      readonly resources: { readonly requests?: Amounts; readonly limits?: Amounts };
    }[];
  };
}

interface Fenced {
  readonly fence?: () => boolean;
}

/** What the kubelet says to a resize; null: it is away. */
type Word = 'apply' | 'Deferred' | 'Infeasible' | 'Error' | null;

/** One pod, with an API server and a kubelet in front of it. */
export class KubeletDouble {
  /** All calls in their order: `get`, `annotate`, `forget`, `resize` and what it asked for. */
  readonly calls: string[] = [];
  word: Word = 'apply';
  /** Before a call is carried out: may throw, or change the pod. */
  before: (call: string) => void = () => undefined;
  /** After a call was carried out, before its answer: may throw. */
  after: (call: string) => void = () => undefined;
  /** What a watch gets. */
  watch: (pod: RawResizablePod) => void = () => undefined;
  pod: Pod | undefined;
  #version = 1;

  constructor(limit = '500m') {
    const resources = { requests: { cpu: '100m', memory: '100' }, limits: { cpu: limit, memory: '200' } };
    this.pod = {
      metadata: {
        name: 'web-1',
        namespace: 'shop',
        uid: 'web-1-uid',
        resourceVersion: '1',
        generation: 1,
        annotations: {},
        managedFields: [],
      },
      spec: { nodeName: 'n1', containers: [{ name: 'app', resources: structuredClone(resources) }] },
      status: {
        phase: 'Running',
        observedGeneration: 1,
        conditions: [],
        containerStatuses: [
          {
            name: 'app',
            resources: structuredClone(resources),
            allocatedResources: { ...resources.requests },
          },
        ],
      },
    };
  }

  get limit(): string | undefined {
    return this.pod?.spec.containers[0]?.resources.limits['cpu'];
  }

  get annotations(): Readonly<Record<string, string>> {
    return this.pod?.metadata.annotations ?? {};
  }

  get writes(): readonly string[] {
    return this.calls.filter((call) => call !== 'get');
  }

  /** The kubelet looks at the pod again. */
  sync(): void {
    const { pod, word } = this;
    if (pod === undefined || word === null) return;
    pod.status.observedGeneration = pod.metadata.generation;
    pod.status.conditions = [];
    const [container] = pod.spec.containers;
    const [status] = pod.status.containerStatuses;
    if (container === undefined || status === undefined) return;
    const isNew = JSON.stringify(container.resources) !== JSON.stringify(status.resources);
    if (word === 'apply' || !isNew) {
      const resources = structuredClone(container.resources);
      pod.status.containerStatuses = [
        { name: 'app', resources, allocatedResources: { ...resources.requests } },
      ];
    } else {
      const type = word === 'Error' ? 'PodResizeInProgress' : 'PodResizePending';
      pod.status.conditions = [{ type, status: 'True', reason: word, message: `it is ${word}` }];
    }
    this.#changed();
  }

  delete(): void {
    this.pod = undefined;
  }

  /** The part of an API client that the resizer uses. */
  readonly client = {
    get: () => this.#call('get', undefined, (pod) => structuredClone(pod)),
    mergePatch: (_of: unknown, _at: unknown, patch: Patch, _query: object, { fence }: Fenced) => {
      const isForgotten = Object.values(patch.metadata.annotations ?? {}).includes(null);
      return this.#call(isForgotten ? 'forget' : 'annotate', fence, (pod) => {
        checkPreconditions(pod, patch);
        for (const [key, value] of Object.entries(patch.metadata.annotations ?? {})) {
          if (value === null) delete pod.metadata.annotations[key];
          else pod.metadata.annotations[key] = value;
        }
        this.#changed();
        return structuredClone(pod);
      });
    },
    strategicMergePatch: (
      _of: unknown,
      _at: unknown,
      patch: Patch,
      { fieldManager }: { fieldManager: string },
      { fence }: Fenced = {},
    ) => {
      const containers = patch.spec?.containers ?? [];
      return this.#call(
        `resize ${JSON.stringify(containers.map(({ resources }) => resources))}`,
        fence,
        (pod) => {
          checkPreconditions(pod, patch);
          for (const { name, resources } of containers) {
            const found = pod.spec.containers.find((one) => one.name === name);
            Object.assign(found?.resources.requests ?? {}, resources.requests);
            Object.assign(found?.resources.limits ?? {}, resources.limits);
          }
          pod.metadata.generation++;
          pod.metadata.managedFields = [{ manager: fieldManager, subresource: 'resize', time: '' }];
          this.#changed();
          return structuredClone(pod);
        },
      );
    },
  };

  async #call<T>(name: string, fence: Fenced['fence'], carryOut: (pod: Pod) => T): Promise<T> {
    this.before(name);
    if (fence?.() === false) throw new FenceClosedError(name);
    this.calls.push(name);
    if (this.pod === undefined) throw answer(404);
    const result = carryOut(this.pod);
    this.after(name);
    return Promise.resolve(result);
  }

  #changed(): void {
    if (this.pod === undefined) return;
    this.pod.metadata.resourceVersion = String(++this.#version);
    this.watch(structuredClone(this.pod));
  }
}

export const answer = (status: number, message = 'no'): ApiError =>
  new ApiError({ status, body: { message }, request: 'x' });

export const lost = (): ConnectionError => new ConnectionError('x', new Error('reset'));

function checkPreconditions({ metadata }: Pod, patch: Patch): void {
  const { uid, resourceVersion } = patch.metadata;
  if (uid !== metadata.uid || resourceVersion !== metadata.resourceVersion) throw answer(409);
}
