import { admissionOf, type CapacityType, foreignKeys, tokenOf } from '@spotalis/core';
import { type ApiClient, ApiError, type RawObject, resource } from '@spotalis/kube';
import type { Ledger, LedgerPod, PodList } from '@spotalis/ledger';
import { getReplicaSet, type ReplicaSetReading } from '../../cluster/replicaset.ts';
import type { RevisionReads, RevisionRef } from './revision.ts';

export interface RawPod extends RawObject {
  readonly spec?: { readonly nodeName?: string };
}

const pods = resource<RawPod>('v1', 'pods', 'Pod');

/** A page of metadata is about 300 kB, and takes the API server a few milliseconds. */
const PAGE_LIMIT = 500;

/** More pods than this are not asked for by name: a page of whole pods is about 2 MB, for all pods of the revision. */
const MOST_BY_NAME = 50;

export interface ReadsOptions {
  readonly client: ApiClient;
  readonly ledger: Pick<Ledger, 'lookup'>;
  /** Undefined for a node that no configured label knows. */
  readonly typeOfNode: (name: string) => Promise<CapacityType | undefined>;
  readonly deadlineMs: number;
}

/**
 * Reads of one revision at the API server. They are quorum reads (no resourceVersion): a cache would show the past,
 * which is what these reads are made to rule out.
 */
export class ApiReads implements RevisionReads {
  readonly #options: ReadsOptions;

  constructor(options: ReadsOptions) {
    this.#options = options;
  }

  async replicaSet({ namespace, name, replicaSetUid }: RevisionRef): Promise<ReplicaSetReading | undefined> {
    const { client, deadlineMs } = this.#options;
    return getReplicaSet(client, { namespace, name, uid: replicaSetUid }, deadlineMs);
  }

  async pods(ref: RevisionRef): Promise<PodList> {
    try {
      return await this.#list(ref);
    } catch (error) {
      // The snapshot was compacted away between two pages: a new one begins at the first.
      if (error instanceof ApiError && error.status === 410) {
        return this.#list(ref);
      }
      throw error;
    }
  }

  async #list(ref: RevisionRef): Promise<PodList> {
    const marked: LedgerPod[] = [];
    const unmarked = new Map<string, RawPod>();
    const resourceVersion = await this.#each(ref, 'metadata', (pod) => {
      const known = readMark(pod);
      if (known === undefined) {
        unmarked.set(tokenOfRaw(pod), pod);
      } else {
        marked.push(known);
      }
    });
    return { resourceVersion, pods: [...marked, ...(await this.#resolve(ref, unmarked))] };
  }

  /** Pods from before adoption, or admitted while no webhook answered. */
  async #resolve(ref: RevisionRef, unmarked: ReadonlyMap<string, RawPod>): Promise<readonly LedgerPod[]> {
    if (unmarked.size === 0) {
      return [];
    }
    const known = await this.#lookup(ref, [...unmarked.keys()]);
    const unknown = [...unmarked.values()].filter((pod) => !known.has(tokenOfRaw(pod)));
    for (const pod of await this.#whole(ref, unknown)) {
      const node = pod.spec?.nodeName;
      const type = node === undefined ? undefined : await this.#options.typeOfNode(node);
      if (type !== undefined) {
        known.set(tokenOfRaw(pod), { type });
      }
    }
    return [...unmarked].map(([token, { metadata }]) => ({
      token,
      resourceVersion: metadata.resourceVersion,
      ...(known.get(token) ?? { type: null }),
    }));
  }

  /** With their specs. A few unknown pods among thousands are no reason to read the thousands. */
  async #whole(ref: RevisionRef, partial: readonly RawPod[]): Promise<readonly RawPod[]> {
    const uids = new Set(partial.map(({ metadata }) => metadata.uid));
    const whole: RawPod[] = [];
    const take = (pod: RawPod): void => {
      if (uids.has(pod.metadata.uid)) {
        whole.push(pod);
      }
    };
    if (partial.length > MOST_BY_NAME) {
      await this.#each(ref, 'whole', take);
      return whole;
    }
    const { client, deadlineMs } = this.#options;
    await Promise.all(
      partial.map(async ({ metadata: { name } }) => {
        // Not a GET: that would be another right.
        const selection = { namespace: ref.namespace, fieldSelector: `metadata.name=${name}` };
        const { items } = await client.list(pods, selection, { deadlineMs });
        items.forEach(take);
      }),
    );
    return whole;
  }

  async #lookup(
    ref: RevisionRef,
    tokens: readonly string[],
  ): Promise<Map<string, Pick<LedgerPod, 'type' | 'rank' | 'substitute'>>> {
    const entries = await this.#options.ledger.lookup(ref, tokens).catch(() => []);
    return new Map(
      entries.flatMap((entry) => {
        if (entry === undefined || entry.type === null) return [];
        const { token, type, rank, substitute } = entry;
        return [[token, { type, substitute, ...(rank === undefined ? {} : { rank }) }]];
      }),
    );
  }

  /** Every living pod of the revision; returns the version of the list. */
  async #each(ref: RevisionRef, view: 'metadata' | 'whole', take: (pod: RawPod) => void): Promise<string> {
    const { client, deadlineMs } = this.#options;
    const selection = {
      namespace: ref.namespace,
      ...(ref.podTemplateHash === ''
        ? {}
        : { labelSelector: `${foreignKeys.podTemplateHash}=${ref.podTemplateHash}` }),
      fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed',
      limit: PAGE_LIMIT,
      view,
    };
    let version = '';
    for await (const page of client.pages(pods, selection, { deadlineMs })) {
      version = page.resourceVersion;
      for (const pod of page.items) {
        if (pod.metadata.deletionTimestamp === undefined && isOf(pod, ref.replicaSetUid)) {
          take(pod);
        }
      }
    }
    return version;
  }
}

/** By UID: the hash is shared with a ReplicaSet of the same template that was deleted before. */
function isOf({ metadata }: RawPod, replicaSetUid: string): boolean {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid === replicaSetUid;
}

function tokenOfRaw({ metadata }: RawPod): string {
  return tokenOf({ metadata, ...admissionOf(metadata) });
}

/** What the pod says of itself; undefined when admission did not give it its type. */
function readMark({ metadata }: RawPod): LedgerPod | undefined {
  const admission = admissionOf(metadata);
  if (admission.admitted === undefined) return undefined;
  const { type, rank, substitute } = admission.admitted;
  const token = tokenOf({ metadata, ...admission });
  return { token, type, rank, substitute, resourceVersion: metadata.resourceVersion };
}
