import {
  type RawResizablePod,
  readResizablePod,
  type ResizablePod,
  type Size,
  type Sizes,
} from '@spotalis/core';
import {
  ApiError,
  type ApiClient,
  asError,
  type ContainerResources,
  FenceClosedError,
  resizePod,
  type ResizeOutcome,
  resource,
} from '@spotalis/kube';

const pods = resource<RawResizablePod>('v1', 'pods', 'Pod');
const DEADLINE_MS = 10_000;

interface PodName {
  readonly name: string;
  readonly uid: string;
}

export type PodRead =
  | { readonly kind: 'read'; readonly pod: ResizablePod }
  /** It does not exist, or another one has its name. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'error'; readonly error: Error };

export type Annotated =
  | { readonly kind: 'annotated'; readonly pod: ResizablePod }
  | { readonly kind: 'stale' | 'gone' | 'fenced' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'error'; readonly error: Error };

/** All that the resizer asks of the API server: each call once, within a deadline, and writes through the fence. */
export class ResizeCalls {
  readonly #client: ApiClient;
  readonly #mayWrite: () => boolean;

  constructor(client: ApiClient, mayWrite: () => boolean) {
    this.#client = client;
    this.#mayWrite = mayWrite;
  }

  /** Never throws. */
  async read(namespace: string, { name, uid }: PodName): Promise<PodRead> {
    try {
      const options = { once: true, deadlineMs: DEADLINE_MS } as const;
      const raw = await this.#client.get(pods, { namespace, name }, options);
      return raw.metadata.uid === uid ? { kind: 'read', pod: readResizablePod(raw) } : { kind: 'gone' };
    } catch (thrown) {
      const error = asError(thrown);
      return error instanceof ApiError && error.status === 404 ? { kind: 'gone' } : { kind: 'error', error };
    }
  }

  /** The subresource drops changes of metadata, so this is a write of its own. Null removes the annotation. */
  async annotate(pod: ResizablePod, module: string, key: string, value: string | null): Promise<Annotated> {
    const { namespace, name, uid, resourceVersion } = pod;
    try {
      const raw = await this.#client.mergePatch(
        pods,
        { namespace, name },
        { metadata: { uid, resourceVersion, annotations: { [key]: value } } },
        { fieldManager: managerOf(module) },
        { once: true, deadlineMs: DEADLINE_MS, fence: this.#mayWrite },
      );
      return { kind: 'annotated', pod: readResizablePod(raw) };
    } catch (thrown) {
      const error = asError(thrown);
      if (error instanceof FenceClosedError) return { kind: 'fenced' };
      if (!(error instanceof ApiError) || error.retryable) return { kind: 'error', error };
      // Another pod of the same name is a conflict, too, and is found at the next read.
      if (error.status === 409) return { kind: 'stale' };
      return error.status === 404 ? { kind: 'gone' } : { kind: 'refused', message: error.statusMessage };
    }
  }

  /** Never throws. */
  async resize(pod: ResizablePod, module: string, sizes: Sizes): Promise<ResizeOutcome<RawResizablePod>> {
    const { namespace, name, uid, resourceVersion } = pod;
    const isSidecar = (container: string): boolean =>
      pod.containers.some((one) => one.name === container && one.kind === 'sidecar');
    const all = [...sizes].map(([container, size]) => resourcesOf(container, size));
    return resizePod<RawResizablePod>(
      this.#client,
      {
        namespace,
        name,
        uid,
        resourceVersion,
        containers: all.filter((one) => !isSidecar(one.name)),
        initContainers: all.filter((one) => isSidecar(one.name)),
        fieldManager: managerOf(module),
      },
      { deadlineMs: DEADLINE_MS, fence: this.#mayWrite },
    );
  }
}

const MANAGER = 'spotalis-';

const managerOf = (module: string): string => `${MANAGER}${module}`;

/** Whether one of our modules resized the pod last. */
export const isOurs = ({ lastResizedBy }: ResizablePod): boolean =>
  lastResizedBy?.startsWith(MANAGER) === true;

function resourcesOf(name: string, { requests, limits }: Size): ContainerResources {
  return { name, resources: { requests: quantitiesOf(requests), limits: quantitiesOf(limits) } };
}

const quantitiesOf = (amounts: Size['requests']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => [name, name === 'cpu' ? `${amount}m` : String(amount)]),
  );
