import { createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ApiClient, KubeObject } from '@spotalis/cluster';
import type { JsonPatchOperation } from '@spotalis/core';
import { createAuthority, issueLeaf } from '@spotalis/runtime';

export interface Review {
  readonly request: {
    readonly uid: string;
    readonly namespace: string;
    readonly object: KubeObject;
    readonly userInfo: { readonly username: string };
  };
}

export interface Answer {
  readonly allowed: boolean;
  /** What the API server tells whoever asked. */
  readonly message?: string;
  readonly patch?: readonly JsonPatchOperation[];
}

/** `body` is the review as the API server sent it. */
type Handler = (review: Review, body: string) => Answer | Promise<Answer>;

interface Registration {
  readonly kind: 'Mutating' | 'Validating';
  /** Mutating webhooks are called in the order of these names; ours is `spotalis`. */
  readonly name: string;
  /** Where pods are asked about. */
  readonly namespace: string;
  readonly operation?: 'CREATE' | 'UPDATE';
}

const dayMs = 24 * 3_600_000;

/** Somebody else's admission webhook, beside ours. */
export class OtherWebhook {
  readonly #api: ApiClient;
  readonly #server: Server;
  readonly #registration: Registration;

  private constructor(api: ApiClient, server: Server, registration: Registration) {
    this.#api = api;
    this.#server = server;
    this.#registration = registration;
  }

  static async install(api: ApiClient, registration: Registration, handler: Handler): Promise<OtherWebhook> {
    const validity = { notBeforeMs: Date.now() - dayMs, notAfterMs: Date.now() + dayMs };
    const authority = await createAuthority({ commonName: 'Some other authority', ...validity });
    const leaf = await issueLeaf(authority, { names: ['localhost'], ...validity });
    const server = createServer({ ...leaf, ALPNProtocols: ['http/1.1'] }, (incoming, outgoing) => {
      void readText(incoming)
        .then(async (body) => outgoing.end(JSON.stringify(await answered(handler, body))))
        .catch((error: unknown) => outgoing.writeHead(500).end(String(error)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { kind, name, namespace, operation = 'CREATE' } = registration;
    await api.apply({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}WebhookConfiguration`,
      metadata: { name },
      webhooks: [
        {
          name: `${name}.example.com`,
          admissionReviewVersions: ['v1'],
          clientConfig: {
            url: `https://localhost:${port}/`,
            caBundle: Buffer.from(authority.cert).toString('base64'),
          },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: [operation] }],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          failurePolicy: 'Fail',
          timeoutSeconds: 10,
          sideEffects: 'None',
        },
      ],
    } as KubeObject);
    return new OtherWebhook(api, server, registration);
  }

  async remove(): Promise<void> {
    const { kind, name } = this.#registration;
    await this.#api.delete(`${kind}WebhookConfiguration`, name);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function answered(handler: Handler, body: string): Promise<object> {
  const review: Review = JSON.parse(body);
  const { allowed, message, patch } = await handler(review, body);
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid: review.request.uid,
      allowed,
      ...(message !== undefined && { status: { message } }),
      ...(patch !== undefined && {
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
      }),
    },
  };
}

/** Sends a review to one of our webhooks, as the API server would, and reads its patch. */
export function postReview(
  { port, ca }: { readonly port: number; readonly ca: string },
  body: string,
): Promise<readonly JsonPatchOperation[]> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const call = request(
      { host: 'localhost', port, path: '/mutate?timeout=2s', method: 'POST', headers, ca },
      (answer) => {
        readText(answer).then((text) => {
          const { response }: { response: { patch: string } } = JSON.parse(text);
          resolve(JSON.parse(Buffer.from(response.patch, 'base64').toString()));
        }, reject);
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

async function readText(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
