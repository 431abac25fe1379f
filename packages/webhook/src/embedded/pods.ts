import { type Admission, admissionOf, type CapacityType, tokenOf } from '@spotalis/core';
import {
  type ApiClient,
  type KubeObject,
  type OwnerReference,
  type RawObject,
  type ReflectorObserver,
  resource,
} from '@spotalis/kube';
import type { Ledger, Revision } from '@spotalis/ledger';
import type { Logger } from '@spotalis/runtime';
import { Mirror } from '../cluster/mirror.ts';

interface RawPod extends RawObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

const pods = resource<RawPod>('v1', 'pods', 'Pod');

/** A pod of some ReplicaSet. */
interface ObservedPod extends KubeObject, Admission {
  readonly owner: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly nodeName: string | undefined;
  readonly ended: boolean;
}

export interface PodObserverOptions {
  readonly client: ApiClient;
  /** As in `scope.namespaces`. */
  readonly namespaces: readonly string[];
  readonly isAbsent: (namespace: string) => boolean;
  readonly ledger: Pick<Ledger, 'seen' | 'released'>;
  /** The ledger of a ReplicaSet's pods; undefined when it is not managed. */
  readonly revisionOf: (owner: ObservedPod['owner']) => Promise<Revision | undefined>;
  readonly typeOfNode: (name: string) => Promise<CapacityType | undefined>;
  readonly observer: ReflectorObserver;
  readonly logger: Logger;
}

/**
 * Keeps an embedded ledger true: no controller can, with the ledger inside this process. It may report a pod late,
 * twice or out of order; the ledger copes with that.
 */
export class PodObserver extends Mirror<RawPod, ObservedPod> {
  readonly #options: PodObserverOptions;

  constructor(options: PodObserverOptions) {
    const { client, namespaces, isAbsent, observer } = options;
    super({ client, resource: pods, namespaces, isAbsent, prune: prunePod, observer });
    this.#options = options;
    this.store.subscribe((change) => {
      if (change.type === 'updated' && saysNothingNew(change.previous, change.object)) return;
      void this.#report(change.object, change.type === 'deleted' || change.object.ended);
    });
  }

  async #report(pod: ObservedPod, ended: boolean): Promise<void> {
    const { ledger, revisionOf, typeOfNode, logger } = this.#options;
    const { metadata, admitted, nodeName } = pod;
    const token = tokenOf(pod);
    try {
      const revision = await revisionOf(pod.owner);
      if (revision === undefined) return;
      if (ended) {
        await ledger.released(revision, token);
        return;
      }
      // A pod without a mark has its node's type, and none before it has a node.
      const type = admitted?.type ?? (nodeName === undefined ? undefined : await typeOfNode(nodeName));
      await ledger.seen(revision, {
        token,
        type: type ?? null,
        rank: admitted?.rank,
        substitute: admitted?.substitute ?? false,
        resourceVersion: metadata.resourceVersion,
      });
    } catch (error) {
      // The next LIST of this ReplicaSet finds the pod, or finds it gone.
      logger.warn('a pod could not be observed', { pod: `${pod.owner.namespace}/${metadata.name}`, error });
    }
  }
}

function prunePod({ metadata, spec, status }: RawPod): ObservedPod | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined || !isReplicaSet(owner)) return undefined;
  const { name, namespace = '', uid, resourceVersion } = metadata;
  const { reservation, admitted } = admissionOf(metadata);
  return {
    metadata: { name, namespace, uid, resourceVersion },
    owner: { namespace, name: owner.name, uid: owner.uid },
    nodeName: spec?.nodeName || undefined,
    ended:
      metadata.deletionTimestamp !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed',
    // Named, not spread: V8 keeps what is spread at the end in a second object.
    reservation,
    admitted,
  };
}

function isReplicaSet({ kind, apiVersion }: OwnerReference): boolean {
  return kind === 'ReplicaSet' && apiVersion.startsWith('apps/');
}

function saysNothingNew(before: ObservedPod, after: ObservedPod): boolean {
  return (
    before.ended === after.ended &&
    before.reservation === after.reservation &&
    before.admitted?.type === after.admitted?.type &&
    before.admitted?.rank === after.admitted?.rank &&
    (after.admitted !== undefined || before.nodeName === after.nodeName)
  );
}
