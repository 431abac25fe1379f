import {
  type Admission,
  admissionOf,
  type CapacityType,
  controllerOf,
  foreignKeys,
  identityOf,
  type ObservedReplicaSet,
  tokenOf,
} from '@spotalis/core';
import { keyOf, type KubeObject, type ListQuery, type Page, type RawObject } from '@spotalis/kube';
import type { Ledger, LedgerPod, PodList, Revision } from '@spotalis/ledger';
import { ledgerPodOf } from './observer.ts';

export interface ListingParts {
  readonly pages: (query: ListQuery, signal: AbortSignal) => AsyncIterable<Page<RawObject>>;
  readonly ledger: Pick<Ledger, 'lookup'>;
  /** The type of the node of a pod that has no mark, as the stores know it. */
  readonly nodeTypeOf: (podKey: string) => CapacityType | undefined;
}

/**
 * A quorum LIST (no resourceVersion) of the pods of one ReplicaSet, as metadata: our marks carry all that counts.
 * The selector only narrows it down; the owner's UID decides.
 */
export async function listPods(
  { pages, ledger, nodeTypeOf }: ListingParts,
  replicaSet: ObservedReplicaSet,
  revision: Revision,
  signal: AbortSignal,
): Promise<PodList> {
  const known: LedgerPod[] = [];
  const untyped: (KubeObject & Admission)[] = [];
  let resourceVersion: string | undefined;
  for await (const page of pages(selectionOf(replicaSet), signal)) {
    resourceVersion ??= page.resourceVersion;
    for (const { metadata } of page.items) {
      if (metadata.deletionTimestamp !== undefined) continue;
      if (controllerOf(metadata)?.uid !== replicaSet.metadata.uid) continue;
      const pod = { metadata: identityOf(metadata), ...admissionOf(metadata) };
      const entry = ledgerPodOf(pod, nodeTypeOf(keyOf(pod)));
      if (entry === undefined) untyped.push(pod);
      else known.push(entry);
    }
  }
  const remembered = await typesFromLedger(ledger, revision, untyped);
  return { resourceVersion: resourceVersion ?? '', pods: [...known, ...remembered] };
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

/** Pods that neither carry a type nor stand on a known node keep the place they have; without one they wait. */
async function typesFromLedger(
  ledger: Pick<Ledger, 'lookup'>,
  revision: Revision,
  untyped: readonly (KubeObject & Admission)[],
): Promise<readonly LedgerPod[]> {
  if (untyped.length === 0) return [];
  const entries = await ledger.lookup(revision, untyped.map(tokenOf));
  return untyped.flatMap((pod, index) => {
    const entry = entries[index];
    if (entry === undefined) return [];
    const { token, type, rank, substitute } = entry;
    const { resourceVersion } = pod.metadata;
    return [{ token, type, substitute, resourceVersion, ...(rank === undefined ? {} : { rank }) }];
  });
}
