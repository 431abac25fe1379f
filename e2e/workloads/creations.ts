import type { AuditEvent, AuditLog } from '@spotalis/cluster';

/** Written by the API server on a request that went on without a webhook that did not answer. */
const failedOpen = 'failed-open.mutation.webhook.admission.k8s.io/';
/** Written by the API server for each webhook that answered. */
const answered = 'mutation.webhook.admission.k8s.io/round_';

/** The requests that created pods, or tried to, as the API server logged them. */
export class PodCreations {
  readonly #events: readonly AuditEvent[];

  static of(log: AuditLog, namespace?: string): PodCreations {
    return new PodCreations(
      log.read(
        ({ verb, objectRef }) =>
          verb === 'create' &&
          objectRef?.resource === 'pods' &&
          objectRef.subresource === undefined &&
          (namespace === undefined || objectRef.namespace === namespace),
        '"verb":"create"',
      ),
    );
  }

  private constructor(events: readonly AuditEvent[]) {
    this.#events = events;
  }

  get count(): number {
    return this.#events.length;
  }

  get refused(): number {
    return this.#events.filter(({ responseStatus }) => (responseStatus?.code ?? 0) >= 400).length;
  }

  /** Past our webhook: it failed, or did not answer in time. */
  get bypassed(): number {
    return this.#events.filter(({ annotations = {} }) =>
      Object.entries(annotations).some(
        ([key, value]) => key.startsWith(failedOpen) && value.includes('spotalis.io'),
      ),
    ).length;
  }

  /** Whose webhooks were asked, by the names of their configurations. */
  get asked(): readonly string[] {
    const all = this.#events.flatMap(({ annotations = {} }) =>
      Object.entries(annotations).flatMap(([key, value]) => {
        const { configuration }: { configuration: string } = key.startsWith(answered)
          ? JSON.parse(value)
          : { configuration: '' };
        return configuration === '' ? [] : [configuration];
      }),
    );
    return [...new Set(all)];
  }
}
