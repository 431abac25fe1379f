import { type Correction, foreignKeys, podKeys, type Renumbering } from '@spotalis/core';
import { ApiError, type ApiClient, asError, FenceClosedError, resource } from '@spotalis/kube';

const pods = resource('v1', 'pods', 'Pod');

/** So many of one workload at a time, and then its turn is over. */
const BATCH = 20;
/** Between two patches of the whole process: a policy change of thousands of pods is no load. */
const PACE_MS = 50;
const DEADLINE_MS = 10_000;

export interface AnnotatorParts {
  readonly client: Pick<ApiClient, 'mergePatch'>;
  readonly pause: (ms: number) => Promise<void>;
}

/** The workload whose pods they are. */
export interface AnnotatedWorkload {
  /** What the ledger knows a pod by, to be written where the pod does not say it. */
  readonly tokenOf: (podName: string) => string | undefined;
  readonly mayWrite: () => boolean;
}

export interface Annotated {
  readonly written: number;
  /** Left for another turn: too many, refused, or changed since they were looked at. */
  readonly left: number;
  /** The first that the API server refused to change, as an admission policy may have it. */
  readonly refused: RefusedAnnotation | null;
}

export interface RefusedAnnotation {
  readonly pod: string;
  /** In the words of the API server. */
  readonly message: string;
}

/** Writes type, rank and deletion cost on pods, slowly. */
export class Annotator {
  readonly #parts: AnnotatorParts;
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: AnnotatorParts) {
    this.#parts = parts;
  }

  /** `mayWrite` is asked before each pod: a turn may be long in coming. */
  async write(
    namespace: string,
    changes: readonly (Correction | Renumbering)[],
    { tokenOf, mayWrite }: AnnotatedWorkload,
  ): Promise<Annotated> {
    let written = 0;
    let refused: RefusedAnnotation | null = null;
    for (const change of changes.slice(0, BATCH)) {
      await this.#wait();
      if (!mayWrite()) break;
      const outcome = await this.#patch(namespace, change, tokenOf(change.pod.name), mayWrite);
      if (outcome === 'written') written++;
      else if (outcome !== 'left') refused ??= outcome;
    }
    return { written, left: changes.length - written, refused };
  }

  #wait(): Promise<void> {
    const before = this.#turn;
    this.#turn = before.then(() => this.#parts.pause(PACE_MS));
    return before;
  }

  /** `left`: the pod is not as it was; a version that differs is refused by the API server. */
  async #patch(
    namespace: string,
    { pod, type, rank, cost }: Correction | Renumbering,
    token: string | undefined,
    mayWrite: () => boolean,
  ): Promise<'written' | 'left' | RefusedAnnotation> {
    const annotations = {
      [podKeys.capacityType]: type,
      ...(rank === null || token === undefined ? {} : { [podKeys.reservation]: token }),
      ...(rank === null ? {} : { [podKeys.rank]: String(rank) }),
      ...(cost === null ? {} : { [foreignKeys.podDeletionCost]: String(cost) }),
    };
    const { name, uid, resourceVersion } = pod;
    try {
      await this.#parts.client.mergePatch(
        pods,
        { namespace, name },
        { metadata: { uid, resourceVersion, annotations } },
        {},
        { once: true, deadlineMs: DEADLINE_MS, fence: mayWrite },
      );
      return 'written';
    } catch (thrown) {
      const error = asError(thrown);
      if (error instanceof FenceClosedError) return 'left';
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404 || error.status === 409) return 'left';
      if (isRefusal(error)) return { pod: name, message: error.message };
      throw error;
    }
  }
}

/** What the same request would come to again, until somebody changes a rule. */
const isRefusal = ({ status }: ApiError): boolean => status === 400 || status === 403 || status === 422;
