import type { ApiClient, JsonPatchOperation, Place, Resource } from '@spotalis/kube';
import { getOrUndefined } from '../cluster/replicaset.ts';

/** One object at the API server, by its name. A call is not retried: the caller reads everything again instead. */
export class NamedObject<T> {
  readonly #client: ApiClient;
  readonly #of: Resource<T>;
  readonly #place: Place & { readonly name: string };
  readonly #deadlineMs: number;

  constructor(
    client: ApiClient,
    of: Resource<T>,
    place: Place & { readonly name: string },
    deadlineMs: number,
  ) {
    this.#client = client;
    this.#of = of;
    this.#place = place;
    this.#deadlineMs = deadlineMs;
  }

  /** Undefined: there is none. */
  read(): Promise<T | undefined> {
    const options = { once: true, deadlineMs: this.#deadlineMs } as const;
    return getOrUndefined(() => this.#client.get(this.#of, this.#place, options));
  }

  async jsonPatch(operations: readonly JsonPatchOperation[], mayWrite: () => boolean): Promise<void> {
    await this.#client.jsonPatch(this.#of, this.#place, operations, {}, this.#writing(mayWrite));
  }

  async mergePatch(patch: object, mayWrite: () => boolean): Promise<void> {
    await this.#client.mergePatch(this.#of, this.#place, patch, {}, this.#writing(mayWrite));
  }

  #writing(mayWrite: () => boolean) {
    return { once: true, deadlineMs: this.#deadlineMs, fence: mayWrite } as const;
  }
}
