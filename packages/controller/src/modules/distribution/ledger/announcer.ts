import { LOW_PRIORITY, type ReconcileResult, type WorkQueue } from '@spotalis/kube';
import { type Ledger, LedgerUnavailable } from '@spotalis/ledger';
import type { Announcements, Fact, Place } from './announcements.ts';
import type { Outage } from './outage.ts';

export interface AnnouncerParts {
  readonly announcements: Announcements;
  readonly ledger: Pick<Ledger, 'seen' | 'released'>;
  readonly queue: Pick<WorkQueue, 'add'>;
  readonly outage: Outage;
  /** False in read-only mode, which may last for ever: of the pods there are facts are kept until it ends. */
  readonly mayWrite: () => boolean;
  readonly onLedgerChange: (replicaSetUid: string) => void;
}

/** Tells the ledger what is due, one place at a time. What it cannot take stays due and is tried again. */
export class Announcer {
  readonly #parts: AnnouncerParts;

  constructor(parts: AnnouncerParts) {
    this.#parts = parts;
  }

  deliver(places: Iterable<Place>, urgency: 'news' | 'backlog'): void {
    for (const place of places) {
      this.#parts.queue.add(place, urgency === 'news' ? {} : { priority: LOW_PRIORITY });
    }
  }

  /** Everything that is due, at once: after an outage, or when writing is allowed again. */
  catchUp(): void {
    this.deliver(this.#parts.announcements.undelivered(), 'backlog');
  }

  /** The reconciler of the queue of places. */
  async announce(place: Place): Promise<ReconcileResult | undefined> {
    const { announcements, outage } = this.#parts;
    const fact = announcements.due(place);
    if (fact === undefined) return undefined;
    if (!this.#parts.mayWrite()) {
      announcements.forgetGone(place);
      return undefined;
    }
    try {
      await this.#tell(fact);
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
      return { requeueAfterMs: outage.failed(error) };
    }
    // A change while the ledger was being told has put the place back into the queue.
    announcements.told(place, fact);
    outage.worked();
    this.#parts.onLedgerChange(fact.revision.replicaSetUid);
    return undefined;
  }

  async #tell(fact: Fact): Promise<void> {
    const { ledger } = this.#parts;
    if (fact.kind === 'seen') await ledger.seen(fact.revision, fact.pod);
    else await ledger.released(fact.revision, fact.token);
  }
}
