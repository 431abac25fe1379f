import {
  admissionOf,
  type CapacityType,
  controllerOf,
  foreignKeys,
  identityOf,
  type ObservedReplicaSet,
} from '@spotalis/core';
import { keyOf, type ListQuery, type Page, type RawObject } from '@spotalis/kube';
import type { LedgerPod, PodList } from '@spotalis/ledger';
import { ledgerPodOf } from './observer.ts';

export interface ListingParts {
  readonly pages: (query: ListQuery, signal: AbortSignal) => AsyncIterable<Page<RawObject>>;
  /** The type of the node of a pod that has no mark, as the stores know it. */
  readonly nodeTypeOf: (podKey: string) => CapacityType | undefined;
}

/**
 * A quorum LIST (no resourceVersion) of the pods of one ReplicaSet, as metadata: our marks carry all that counts.
 * The selector only narrows it down; the owner's UID decides.
 */
export async function listPods(
  { pages, nodeTypeOf }: ListingParts,
  replicaSet: ObservedReplicaSet,
  signal: AbortSignal,
): Promise<PodList> {
  const pods: LedgerPod[] = [];
  let resourceVersion: string | undefined;
  for await (const page of pages(selectionOf(replicaSet), signal)) {
    resourceVersion ??= page.resourceVersion;
    for (const { metadata } of page.items) {
      if (metadata.deletionTimestamp !== undefined) continue;
      if (controllerOf(metadata)?.uid !== replicaSet.metadata.uid) continue;
      const pod = { metadata: identityOf(metadata), ...admissionOf(metadata) };
      pods.push(ledgerPodOf(pod, nodeTypeOf(keyOf(pod))));
    }
  }
  return { resourceVersion: resourceVersion ?? '', pods };
}

function selectionOf({ metadata, podTemplateHash }: ObservedReplicaSet): ListQuery {
  return {
    namespace: metadata.namespace ?? '',
    view: 'metadata',
    fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed',
    ...(podTemplateHash === undefined
      ? {}
      : { labelSelector: `${foreignKeys.podTemplateHash}=${podTemplateHash}` }),
  };
}
