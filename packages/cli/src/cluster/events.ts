import { type ObservedWorkload, otherType, readOverride } from '@spotalis/core';
import { type ApiClient, ApiError, type RawObject, resource } from '@spotalis/kube';
import { noFootprint, type MoveFootprint, type Survey } from './survey.ts';

interface RawEvent extends RawObject {
  readonly reason?: string;
  readonly message?: string;
  readonly type?: string;
  readonly eventTime?: string | null;
  readonly reportingComponent?: string;
  readonly series?: { readonly lastObservedTime?: string } | null;
}

const events = resource<RawEvent>('v1', 'events', 'Event');

/** What the controller has said about a workload. */
export interface Told {
  readonly atMs: number;
  readonly reason: string;
  readonly note: string;
}

/** The latest first; none where they may not be read. */
export async function toldOf(client: ApiClient, { metadata }: ObservedWorkload): Promise<readonly Told[]> {
  const { namespace = '', uid } = metadata;
  try {
    const { items } = await client.list(events, { namespace, fieldSelector: `involvedObject.uid=${uid}` });
    return items
      .filter(({ reportingComponent = '' }) => reportingComponent.startsWith('spotalis.io/'))
      .map(({ reason = '', message = '', series, eventTime }) => ({
        atMs: Date.parse(series?.lastObservedTime ?? eventTime ?? '') || 0,
        reason,
        note: message,
      }))
      .toSorted((a, b) => b.atMs - a.atMs);
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}

/** A move is told when its pod is evicted; what came after it is the replacement. */
export function footprintOf(
  told: readonly Told[],
  survey: Survey,
  workload: ObservedWorkload,
  nowMs: number,
): MoveFootprint {
  const last = told.find(({ reason }) => reason === 'Moved' || reason === 'PlacementOverridden');
  const overridden = last && readOverride(last.note);
  if (last !== undefined && overridden) return stoppedAt(last.atMs, overridden);
  const moved = told.find(({ reason }) => reason === 'Moved');
  const moveTimeoutMs = survey.settings.values.rebalance.moveTimeout;
  if (moved === undefined || nowMs - moved.atMs > moveTimeoutMs) return noFootprint;
  // Creation times are whole seconds.
  const alive = survey.podsOf(workload).filter(({ ended }) => !ended);
  const came = alive.filter(({ createdAtMs }) => createdAtMs >= moved.atMs - 1_000);
  const ready = came.find((pod) => pod.ready);
  if (ready !== undefined) return endedAt(ready.createdAtMs);
  // It was scaled down meanwhile, so that no replacement is needed.
  if (came.length === 0 && alive.length >= workload.replicas) return endedAt(moved.atMs);
  return { history: null, inFlight: true };
}

/** The leader gave up, and says why. */
const stoppedAt = (
  endedAtMs: number,
  { failures, to, override }: NonNullable<ReturnType<typeof readOverride>>,
): MoveFootprint => ({
  history: { from: otherType(to), to, endedAtMs, failures, override },
  inFlight: false,
});

// The direction is not asked for by any gate, only the time.
const endedAt = (endedAtMs: number): MoveFootprint => ({
  history: { from: 'spot', to: 'on-demand', endedAtMs, failures: 0, override: null },
  inFlight: false,
});
