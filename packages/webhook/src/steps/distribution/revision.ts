import type { PodList, Revision } from '@spotalis/ledger';
import type { ReplicaSetReading } from '../../cluster/replicaset.ts';

/** A ReplicaSet with what it takes to read it and its pods. */
export interface RevisionRef extends Revision {
  readonly namespace: string;
  readonly name: string;
  /** The value of `pod-template-hash` that its pods carry. */
  readonly podTemplateHash: string;
}

/** Quorum reads of one revision. Each has a deadline of its own. */
export interface RevisionReads {
  /** Undefined when there is no such ReplicaSet any more, or another one of that name. */
  replicaSet(ref: RevisionRef): Promise<ReplicaSetReading | undefined>;
  pods(ref: RevisionRef): Promise<PodList>;
}

/** Thrown when a pod's ReplicaSet was deleted during the admission. A retry does not help. */
export class RevisionGoneError extends Error {
  override readonly name = 'RevisionGoneError';
  readonly code = 'REVISION_GONE';

  constructor({ namespace, name }: RevisionRef) {
    super(`ReplicaSet ${namespace}/${name} does not exist any more`);
  }
}
