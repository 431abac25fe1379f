import { asError } from '@spotalis/kube';
import { type Ledger, LedgerUnavailable, type Revision } from '@spotalis/ledger';

export interface LossWatchParts {
  readonly ledger: Pick<Ledger, 'health' | 'counts'>;
  /** By UID of the ReplicaSet. */
  readonly revisions: () => ReadonlyMap<string, Revision>;
  /** How many pods the ledger was told of and should still hold. */
  readonly toldOf: (replicaSetUid: string) => number;
  readonly random: () => number;
  /** A look that failed for a reason of its own; the next one comes by itself. */
  readonly failed: (error: Error) => void;
}

/**
 * Notices that ledgers were lost. A lost connection raises the ledger's epoch. A flush raises nothing: so each look
 * also counts one ledger, and when that twice holds less than it was told, all of them are counted.
 */
export class LossWatch {
  readonly #parts: LossWatchParts;
  #epoch: number;
  /** Found short at the last look. Another replica may just have seen more ends than we have: it gets a second one. */
  #suspect: string | undefined;
  #looking = false;

  constructor(parts: LossWatchParts) {
    this.#parts = parts;
    this.#epoch = parts.ledger.health().epoch;
  }

  /** The ReplicaSets whose ledgers have to be listed. Never throws. */
  async look(): Promise<Iterable<string>> {
    if (this.#looking) return [];
    this.#looking = true;
    try {
      return await this.#look();
    } catch (error) {
      // Out of reach nothing can be said, and the epoch will tell afterwards.
      if (!(error instanceof LedgerUnavailable)) this.#parts.failed(asError(error));
      return [];
    } finally {
      this.#looking = false;
    }
  }

  async #look(): Promise<Iterable<string>> {
    const { ledger, random } = this.#parts;
    const revisions = this.#parts.revisions();
    const { epoch } = ledger.health();
    if (epoch !== this.#epoch) {
      this.#epoch = epoch;
      return revisions.keys();
    }
    const suspect = this.#suspect;
    this.#suspect = undefined;
    const uid = suspect ?? [...revisions.keys()][Math.floor(random() * revisions.size)];
    if (uid === undefined || !(await this.#isShort(uid, revisions.get(uid)))) return [];
    if (suspect === undefined) {
      this.#suspect = uid;
      return [];
    }
    return this.#allShort(revisions);
  }

  async #allShort(revisions: ReadonlyMap<string, Revision>): Promise<readonly string[]> {
    const short: string[] = [];
    for (const [uid, revision] of revisions) if (await this.#isShort(uid, revision)) short.push(uid);
    return short;
  }

  async #isShort(uid: string, revision: Revision | undefined): Promise<boolean> {
    const told = this.#parts.toldOf(uid);
    if (told === 0 || revision === undefined) return false;
    const { spot, onDemand, untyped } = await this.#parts.ledger.counts(revision);
    return spot + onDemand + untyped < told;
  }
}
