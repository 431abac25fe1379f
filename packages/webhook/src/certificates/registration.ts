import { type ApiClient, type JsonPatchOperation, type RawObject, resource } from '@spotalis/kube';
import { type Authority, readAuthorities, writeAuthorities } from '@spotalis/runtime';
import { getOrUndefined } from '../workload/replicaset.ts';

interface RawRegistration extends RawObject {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: { readonly caBundle?: string };
  }[];
}

const registrations = resource<RawRegistration>(
  'admissionregistration.k8s.io/v1',
  'mutatingwebhookconfigurations',
  'MutatingWebhookConfiguration',
);

/** What the API server verifies us by, at one version of it. */
export interface RegisteredBundle {
  readonly resourceVersion: string;
  /** Names of the entries: each has a `caBundle` of its own. */
  readonly entries: readonly string[];
  /** Those that every entry has. */
  readonly authorities: readonly Authority[];
}

/** The `caBundle` of our own MutatingWebhookConfiguration, of which nothing else is ever written. */
export class Registration {
  readonly #client: ApiClient;
  readonly #name: string;
  readonly #deadlineMs: number;

  constructor(client: ApiClient, name: string, deadlineMs: number) {
    this.#client = client;
    this.#name = name;
    this.#deadlineMs = deadlineMs;
  }

  /** Undefined: we are not registered. */
  async read(): Promise<RegisteredBundle | undefined> {
    const options = { once: true, deadlineMs: this.#deadlineMs } as const;
    const found = await getOrUndefined(() => this.#client.get(registrations, { name: this.#name }, options));
    const { metadata, webhooks = [] } = found ?? {};
    if (metadata === undefined || webhooks.length === 0) return undefined;
    const bundles = webhooks.map(({ clientConfig: { caBundle = '' } }) =>
      readAuthorities(Buffer.from(caBundle, 'base64').toString()),
    );
    const [first = [], ...others] = bundles;
    return {
      resourceVersion: metadata.resourceVersion,
      entries: webhooks.map(({ name }) => name),
      authorities: first.filter(({ fingerprint }) =>
        others.every((bundle) => bundle.some((each) => each.fingerprint === fingerprint)),
      ),
    };
  }

  /** Refused when the object has changed since it was read. */
  async write(
    { resourceVersion, entries }: RegisteredBundle,
    authorities: readonly Authority[],
    mayWrite: () => boolean,
  ): Promise<void> {
    const caBundle = Buffer.from(writeAuthorities(authorities)).toString('base64');
    const operations: JsonPatchOperation[] = [
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      ...entries.map((_, index) => ({
        op: 'add' as const,
        path: `/webhooks/${index}/clientConfig/caBundle`,
        value: caBundle,
      })),
    ];
    const options = { once: true, deadlineMs: this.#deadlineMs, fence: mayWrite } as const;
    await this.#client.jsonPatch(registrations, { name: this.#name }, operations, {}, options);
  }
}
