import { LedgerUnavailable } from '../errors.ts';
import type { ListMark, PodList } from '../ledger.ts';
import { array, podFields, text } from './reply.ts';
import { type Script, scripts } from './script.ts';

/**
 * Pods a call: what keeps Redis from everything else for less than 2 ms on slow machines too (bench/redis-time.ts
 * shows 5 to 10 us a pod). Other calls get their turn between two chunks.
 */
const podsPerChunk = 50;

const attempts = 3;

export interface MergeRun {
  readonly run: (script: Script, args: readonly (string | number)[]) => Promise<unknown>;
  /** Counts connections lost: what an earlier chunk wrote may be lost with one. */
  readonly connections: () => number;
  readonly goneUs: number;
  readonly idleMs: number;
}

/**
 * Writes a list in chunks, then sweeps what is not on it. Begins again when the ledger is lost half way. Returns whether
 * the list showed that the API server's store went back, so that the ledger holds nothing else.
 */
export async function mergeInChunks(list: PodList, mark: ListMark, io: MergeRun): Promise<boolean> {
  let beganAnew = false;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const merged = await mergeOnce(list, mark, io);
    beganAnew ||= merged.beganAnew;
    if (merged.done) return beganAnew;
  }
  throw new LedgerUnavailable(
    'LEDGER_LOST',
    `The ledger was lost ${attempts} times while a list of ${list.pods.length} pods was merged. The next LIST does it.`,
  );
}

async function mergeOnce(
  list: PodList,
  mark: ListMark,
  io: MergeRun,
): Promise<{ readonly done: boolean; readonly beganAnew: boolean }> {
  const { resourceVersion, pods } = list;
  const connections = io.connections();
  let beganAnew = false;
  let id = '';
  // At least once: an empty list is a fact too.
  for (let start = 0; start === 0 || start < pods.length; start += podsPerChunk) {
    const chunk = pods.slice(start, start + podsPerChunk).flatMap(podFields);
    const reply = await io.run(scripts.mergePods, [
      id,
      String(mark.atUs),
      resourceVersion,
      io.goneUs,
      io.idleMs,
      mark.pods ?? '',
      ...chunk,
    ]);
    const [code, ledgerId, anew] = array(reply);
    beganAnew ||= anew === 1;
    if (code === 0 || io.connections() !== connections) return { done: false, beganAnew };
    id = text(ledgerId);
  }
  let cursor = '0';
  do {
    if (io.connections() !== connections) return { done: false, beganAnew };
    const reply = await io.run(scripts.sweepPlaces, [
      id,
      String(mark.atUs),
      resourceVersion,
      io.goneUs,
      io.idleMs,
      cursor,
      podsPerChunk,
    ]);
    const [code, next] = array(reply);
    if (code === 0) return { done: false, beganAnew };
    cursor = text(next);
  } while (cursor !== '0');
  return { done: true, beganAnew };
}
