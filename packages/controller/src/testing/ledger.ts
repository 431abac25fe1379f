import {
  type LedgerEntry,
  type LedgerPod,
  LedgerUnavailable,
  type ListMark,
  type PodList,
  type Revision,
} from '@spotalis/ledger';

type Call =
  | { readonly verb: 'seen'; readonly revision: Revision; readonly pod: LedgerPod }
  | { readonly verb: 'released'; readonly revision: Revision; readonly token: string }
  | { readonly verb: 'markList' | 'remove'; readonly revision: Revision }
  | { readonly verb: 'merge'; readonly revision: Revision; readonly list: PodList };

/** A ledger that keeps only what it was told, and can be out of reach. */
export class FakeLedger {
  readonly calls: Call[] = [];
  isDown = false;
  /** Calls that failed because it was down. */
  refused = 0;

  /** What `entries` answers. */
  holding: readonly LedgerEntry[] = [];

  entries(): Promise<readonly LedgerEntry[]> {
    return Promise.resolve(this.holding);
  }

  /** The tokens that a ledger told all this would hold. */
  get held(): readonly string[] {
    const tokens = new Set<string>();
    for (const call of this.calls) {
      if (call.verb === 'seen') tokens.add(call.pod.token);
      if (call.verb === 'released') tokens.delete(call.token);
    }
    return [...tokens].toSorted();
  }

  async seen(revision: Revision, pod: LedgerPod): Promise<'recorded'> {
    await this.#take({ verb: 'seen', revision, pod });
    return 'recorded';
  }

  released(revision: Revision, token: string): Promise<void> {
    return this.#take({ verb: 'released', revision, token });
  }

  async markList(revision: Revision): Promise<ListMark> {
    await this.#take({ verb: 'markList', revision });
    return { atUs: 1, epoch: 0 };
  }

  merge(revision: Revision, list: PodList): Promise<void> {
    return this.#take({ verb: 'merge', revision, list });
  }

  remove(revision: Revision): Promise<void> {
    return this.#take({ verb: 'remove', revision });
  }

  async #take(call: Call): Promise<void> {
    await Promise.resolve();
    if (this.isDown) {
      this.refused++;
      throw new LedgerUnavailable('LEDGER_DISCONNECTED', 'down');
    }
    this.calls.push(call);
  }
}
