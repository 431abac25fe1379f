import { randomUUID } from 'node:crypto';
import { request } from 'node:https';
import type { WebhookState } from '@spotalis/core';
import { type ApiClient, asError, resource } from '@spotalis/kube';

interface ClientConfig {
  readonly url?: string;
  readonly caBundle?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly port?: number;
    readonly path?: string;
  };
}

interface RawConfiguration {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig: ClientConfig }[];
}

interface RawSlice {
  readonly metadata: RawConfiguration['metadata'];
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[];
}

const configurations = resource<RawConfiguration>(
  'admissionregistration.k8s.io/v1',
  'mutatingwebhookconfigurations',
  'MutatingWebhookConfiguration',
);
const slices = resource<RawSlice>('discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice');

/** The API server's own patience with our webhook. */
const CALL_MS = 2_000;
const READ_MS = 5_000;
/** An answer to one review is small. */
const MAX_ANSWER_BYTES = 65_536;

export type Health = Exclude<WebhookState, { kind: 'bypassed' }>;

/**
 * Asks the webhook what the API server would ask it, in the way the API server would: at the address and with the
 * authority that its live configuration names. So a wrong caBundle is noticed as well as a webhook that is away.
 */
export class WebhookProbe {
  readonly #client: Pick<ApiClient, 'get' | 'list'>;
  readonly #configurationName: string;
  readonly #onChange: (health: Health) => void;
  #health: Health = { kind: 'notServing', detail: 'it has not been asked yet' };
  #asked = 0;
  /** The question whose answer `#health` is. */
  #answered = 0;

  constructor(parts: {
    readonly client: Pick<ApiClient, 'get' | 'list'>;
    readonly configurationName: string;
    /** It began or ceased to serve. */
    readonly onChange: (health: Health) => void;
  }) {
    this.#client = parts.client;
    this.#configurationName = parts.configurationName;
    this.#onChange = parts.onChange;
  }

  /** As it was when it was last asked. */
  get health(): Health {
    return this.#health;
  }

  /** Asks now. Never throws. */
  async ask(): Promise<Health> {
    const question = ++this.#asked;
    try {
      await this.#ask();
      return this.#found({ kind: 'serving' }, question);
    } catch (thrown) {
      return this.#found({ kind: 'notServing', detail: asError(thrown).message }, question);
    }
  }

  /** Several may ask at a time, and end in any order: what was asked last is the latest news. */
  #found(health: Health, question: number): Health {
    if (question < this.#answered) return this.#health;
    this.#answered = question;
    const before = this.#health;
    this.#health = health;
    if (before.kind !== health.kind) this.#onChange(health);
    return health;
  }

  async #ask(): Promise<void> {
    const name = this.#configurationName;
    const { webhooks = [] } = await this.#client.get(
      configurations,
      { name },
      { once: true, deadlineMs: READ_MS },
    );
    if (webhooks.length === 0) throw new Error(`MutatingWebhookConfiguration ${name} names no webhook`);
    for (const { clientConfig } of webhooks) {
      const { service } = clientConfig;
      if (service !== undefined) await this.#expectEndpoint(service);
      await review(addressOf(clientConfig), authorityOf(clientConfig));
    }
  }

  async #expectEndpoint({ namespace, name }: NonNullable<ClientConfig['service']>): Promise<void> {
    const { items } = await this.#client.list(
      slices,
      { namespace, labelSelector: `kubernetes.io/service-name=${name}` },
      { once: true, deadlineMs: READ_MS },
    );
    const isReady = items.some(({ endpoints }) =>
      // Absent means ready, as the API defines it.
      (endpoints ?? []).some(({ conditions }) => conditions?.ready !== false),
    );
    if (!isReady) throw new Error(`the Service ${namespace}/${name} has no ready endpoint`);
  }
}

function addressOf({ url, service }: ClientConfig): URL {
  if (url !== undefined) return new URL(url);
  if (service === undefined) throw new Error('its configuration has neither a url nor a service');
  const { namespace, name, port = 443, path = '/' } = service;
  return new URL(path, `https://${name}.${namespace}.svc:${port}`);
}

/** Undefined: the authorities of the system, as for the API server. */
function authorityOf({ caBundle }: ClientConfig): string | undefined {
  return caBundle === undefined || caBundle === '' ? undefined : Buffer.from(caBundle, 'base64').toString();
}

/** A bare pod, which the webhook leaves alone, as a dry run on top. */
function reviewOf(uid: string): object {
  const metadata = { name: 'spotalis-probe', namespace: 'default' };
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid,
      operation: 'CREATE',
      dryRun: true,
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      ...metadata,
      userInfo: { username: 'spotalis-controller' },
      object: { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } },
    },
  };
}

async function review(address: URL, ca: string | undefined): Promise<void> {
  const uid = randomUUID();
  const { status, text } = await post(address, ca, JSON.stringify(reviewOf(uid)));
  if (status !== 200) throw new Error(`${address.host} answered ${status}`);
  const answer: { response?: { uid?: string; allowed?: boolean } } = JSON.parse(text);
  if (answer.response?.uid !== uid || answer.response.allowed !== true) {
    throw new Error(`${address.host} did not answer the review it was asked`);
  }
}

/** Over a connection of its own, so that the certificate of now is the one that is verified. */
function post(
  address: URL,
  ca: string | undefined,
  body: string,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const signal = AbortSignal.timeout(CALL_MS);
    const call = request(
      address,
      { method: 'POST', agent: false, headers, signal, ...(ca === undefined ? {} : { ca }) },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          text += piece;
          if (text.length > MAX_ANSWER_BYTES) call.destroy(new Error('its answer does not end'));
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    call.on('error', (error) => {
      const message = signal.aborted ? `no answer within ${CALL_MS} ms` : error.message;
      reject(new Error(`${address.host}: ${message}`, { cause: error }));
    });
    call.end(body);
  });
}
