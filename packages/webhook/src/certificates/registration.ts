import { type ApiClient, type JsonPatchOperation, type RawObject, resource } from '@spotalis/kube';
import { type Authority, readAuthorities, writeAuthorities } from '@spotalis/runtime';
import { NamedObject } from './named.ts';

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

/** The authorities that the API server verifies this service by, at one resourceVersion. */
export interface RegisteredBundle {
  readonly resourceVersion: string;
  /** Names of the entries: each has a `caBundle` of its own. */
  readonly entries: readonly string[];
  /** Those that every entry has. */
  readonly authorities: readonly Authority[];
}

/** The `caBundle` of our own MutatingWebhookConfiguration, of which nothing else is ever written. */
export class Registration {
  readonly #object: NamedObject<RawRegistration>;

  constructor(client: ApiClient, name: string, deadlineMs: number) {
    this.#object = new NamedObject(client, registrations, { name }, deadlineMs);
  }

  /** Undefined: we are not registered. */
  async read(): Promise<RegisteredBundle | undefined> {
    const { metadata, webhooks = [] } = (await this.#object.read()) ?? {};
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
    await this.#object.jsonPatch(operations, mayWrite);
  }
}
