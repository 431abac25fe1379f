import { type CapacityType, type ObservedPod, type ObservedWorkload, tokenOf } from '@spotalis/core';
import type { LedgerPod } from '@spotalis/ledger';
import type { Announcements, Fact, Place } from './announcements.ts';
import type { Cluster, Home } from '../../../kernel/cluster/cluster.ts';

/** Where places go about which there is something to tell. */
export type Deliver = (places: readonly Place[], urgency: 'news' | 'backlog') => void;

/**
 * Turns what the stores show into facts for the ledger. A pod is looked at when it changes, and again when
 * anything changes that decides whether and where it counts: its ReplicaSet, Deployment, Namespace or node.
 */
export class Observer {
  readonly #cluster: Cluster;
  readonly #announcements: Announcements;
  readonly #deliver: Deliver;
  #leave: readonly (() => void)[] = [];

  constructor(parts: { cluster: Cluster; announcements: Announcements; deliver: Deliver }) {
    this.#cluster = parts.cluster;
    this.#announcements = parts.announcements;
    this.#deliver = parts.deliver;
  }

  /** After the stores are full: what they hold is the backlog, what comes is news. */
  start(): void {
    const { pods, replicaSets, deployments, namespaces, nodes } = this.#cluster;
    this.#leave = [
      pods.subscribe((change) => {
        if (change.type !== 'deleted') this.#look(change.object);
        else this.#deliver(this.#announcements.remove(change.object.metadata.uid), 'news');
      }),
      replicaSets.subscribe((change) => {
        if (change.type === 'updated' && change.previous.controller?.uid === change.object.controller?.uid)
          return;
        this.#lookAtAll(pods.by('controller', change.object.metadata.uid));
      }),
      deployments.subscribe((change) => {
        if (change.type === 'updated' && sameOptIn(change.previous, change.object)) return;
        this.#lookAtAll(this.#cluster.podsOf(change.object));
      }),
      namespaces.subscribe(({ object }) => {
        for (const workload of deployments.by('namespace', object.metadata.name)) {
          this.#lookAtAll(this.#cluster.podsOf(workload));
        }
      }),
      nodes.subscribe((change) => {
        if (change.type === 'updated' && change.previous.type === change.object.type) return;
        this.#lookAtAll(pods.by('node', change.object.metadata.name));
      }),
    ];
    for (const pod of pods.values()) this.#look(pod, 'backlog');
  }

  stop(): void {
    for (const leave of this.#leave) leave();
    this.#leave = [];
  }

  #lookAtAll(pods: readonly ObservedPod[]): void {
    for (const pod of pods) this.#look(pod);
  }

  #look(pod: ObservedPod, urgency: 'news' | 'backlog' = 'news'): void {
    const home = this.#cluster.homeOf(pod);
    if (home === undefined || !this.#cluster.isManaged(home.workload)) {
      this.#announcements.forget(pod.metadata.uid);
      return;
    }
    const fact = factOf(pod, home, this.#cluster);
    if (fact !== undefined) this.#deliver(this.#announcements.observe(pod.metadata.uid, fact), urgency);
  }
}

function factOf(pod: ObservedPod, { revision }: Home, cluster: Cluster): Fact | undefined {
  if (revision === undefined) return undefined;
  const token = tokenOf(pod);
  if (pod.ended) return { kind: 'released', revision, token };
  return { kind: 'seen', revision, token, pod: ledgerPodOf(pod, cluster.nodeTypeOf(pod)) };
}

/**
 * The pod as the ledger has to hold it. Its own mark decides; one that admission never saw is of its node's type, and
 * of none while that says nothing.
 */
export function ledgerPodOf(
  pod: Pick<ObservedPod, 'metadata' | 'reservation' | 'admitted'>,
  nodeType: CapacityType | undefined,
): LedgerPod {
  const { admitted, metadata } = pod;
  return {
    token: tokenOf(pod),
    type: admitted?.type ?? nodeType ?? null,
    rank: admitted?.rank,
    substitute: admitted?.substitute ?? false,
    resourceVersion: metadata.resourceVersion,
  };
}

const sameOptIn = (left: ObservedWorkload, right: ObservedWorkload): boolean => {
  const keys = new Set([...Object.keys(left.labels), ...Object.keys(right.labels)]);
  return [...keys].every((key) => left.labels[key] === right.labels[key]);
};
